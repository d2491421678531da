/** What Prometheus' own tests, and Go's regexp, say about relabelling. */
import assert from 'node:assert/strict'
import { parse } from 'yaml'
import { compileRegex } from '../../../pipeline/relabel/regex.ts'
import { compileRelabel } from '../../../pipeline/relabel/relabel.ts'
import { checkRelabelRules, type RelabelRule } from '../../../pipeline/relabel/rule.ts'
import { parseTemplate } from '../../../pipeline/relabel/template.ts'
import { RELABEL_NOT_APPLICABLE } from '../../support/scraping-deviations.ts'
import { sharedJson } from '../../support/shared.ts'

type RelabelCase = {
  name: string
  config: RelabelRule[]
  input: Record<string, string>
  expect: 'keep' | 'drop'
  output?: Record<string, string>
}
type ValidateCases = {
  struct_cases: { name: string; names: string; config: RelabelRule; expect: 'ok' | 'error' }[]
  target_labels: { target_label: string; valid_legacy: boolean }[]
  bad_configs: { name: string; relabel_yaml?: string; names?: string }[]
  roundtrip: { name: string; yaml: string }[]
}
type RegexCases = {
  match: { regex: string; matches: string[]; does_not_match: string[] }[]
  expand: { regex: string; value: string; replacement: string; match: boolean; result?: string }[]
  compile: { regex: string; valid: boolean }[]
}

describe('relabelling, by the tests of Prometheus', () => {
  for (const { name, config, input, expect, output } of sharedJson<{ cases: RelabelCase[] }>(
    'conformance/prometheus-relabel/relabel.json',
  )?.cases ?? []) {
    it(name, () => {
      assert.deepEqual(checkRelabelRules(config), [])
      const result = compileRelabel(config)(new Map(Object.entries(input)))
      assert.deepEqual(result && Object.fromEntries(result), expect === 'drop' ? undefined : output)
    })
  }

  const validate = sharedJson<ValidateCases>('conformance/prometheus-relabel/validate.json')
  for (const { name, config, expect } of validate?.struct_cases ?? []) {
    if (name in RELABEL_NOT_APPLICABLE) continue
    it(`${name} is ${expect}`, () => {
      assert.equal(checkRelabelRules([config]).length > 0, expect === 'error')
    })
  }
  for (const { target_label } of validate?.target_labels ?? []) {
    it(`takes the target label ${target_label}, since names are UTF-8`, () => {
      assert.deepEqual(checkRelabelRules([{ target_label }]), [])
    })
  }
  for (const { name, relabel_yaml } of validate?.bad_configs ?? []) {
    if (name in RELABEL_NOT_APPLICABLE) continue
    it(`refuses ${name}`, () => {
      const rules = parse(relabel_yaml!) as (RelabelRule | null)[]
      // A rule that is null, and an action that is, reach the check as what the config makes of them: nothing given.
      const given = rules.map(rule =>
        Object.fromEntries(Object.entries(rule ?? {}).filter(([, value]) => value !== null)),
      )
      assert.notDeepEqual(checkRelabelRules(given), [])
    })
  }
  for (const { name, yaml } of validate?.roundtrip ?? []) {
    it(`parses: ${name}`, () => {
      assert.deepEqual(checkRelabelRules([parse(yaml) as RelabelRule]), [])
    })
  }
})

describe('regular expressions, by Go', () => {
  const cases = sharedJson<RegexCases>('conformance/relabel-regex-re2/regex.json')
  for (const { regex, matches, does_not_match } of cases?.match ?? []) {
    it(`/${regex}/ matches what it should`, () => {
      const compiled = compileRegex(regex)
      assert.deepEqual(
        matches.filter(text => !compiled.matches(text)),
        [],
      )
      assert.deepEqual(
        does_not_match.filter(text => compiled.matches(text)),
        [],
      )
    })
  }
  for (const { regex, value, replacement, match, result } of cases?.expand ?? []) {
    it(`/${regex}/ of ${JSON.stringify(value)} makes ${replacement} ${match ? JSON.stringify(result) : 'nothing'}`, () => {
      const groups = compileRegex(regex).match(value)
      assert.equal(groups && parseTemplate(replacement).expand(groups), match ? result : undefined)
    })
  }
  for (const { regex, valid } of cases?.compile ?? []) {
    it(`/${regex}/ is ${valid ? 'valid' : 'refused'}`, () => {
      if (valid) compileRegex(regex)
      else assert.throws(() => compileRegex(regex))
    })
  }
})
