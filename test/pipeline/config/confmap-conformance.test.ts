/**
 * The OpenTelemetry Collector's own cases for references and ids. What we do differently on purpose is listed, with the reason,
 * in `confmap-deviations.json`, and so is what cannot be asked of us; a listed case that passes is a failure, too.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createExpander } from '../../../pipeline/config/expand.ts'
import type { Finding } from '../../../pipeline/config/finding.ts'
import { parseId, parsePipelineId } from '../../../pipeline/config/ids.ts'
import { plainValue } from '../../../pipeline/config/plain-value.ts'
import { resolveConfig } from '../../../pipeline/config/resolve-config.ts'
import type { Schema } from '../../../pipeline/config/schema-walk.ts'
import { environmentScheme, type Scheme } from '../../../pipeline/config/schemes.ts'
import { createSource } from '../../../pipeline/config/source.ts'
import { validatorFor } from '../../../pipeline/config/validator.ts'
import { readYaml, type YamlNode } from '../../../pipeline/config/yaml-source.ts'

type ExpansionCase = {
  name: string
  default_scheme: string | null
  env: Record<string, string>
  input?: unknown
  config_yaml?: string
  files?: Record<string, string>
  target_type?: string
  test_scheme?: string
  expect?: unknown
  expect_error?: string
  expect_paths?: Record<string, unknown>
}
type IdCase = { kind: string; input: string; expect: 'ok' | 'error'; type?: string; signal?: string; name?: string }
type UriCase = { name: string; uri: string; expect: unknown }
type Listed = { case: string; reason: string }

const folder = resolve('../shared/conformance/otelcol-confmap')
const { deviations, not_applicable: notApplicable } = JSON.parse(
  readFileSync(new URL('confmap-deviations.json', import.meta.url), 'utf8'),
) as { deviations: Listed[]; not_applicable: Listed[] }

/** What the Go types of the cases are in our schemas. A Go field that is not mentioned is zero: that is its default. */
const TARGETS: Record<string, Schema> = {
  string: { type: 'string' },
  int: { type: 'integer', default: 0 },
  bool: { type: 'boolean' },
  list: { type: 'array', items: { type: 'string' } },
  map: { type: 'object', additionalProperties: { type: 'object', additionalProperties: { type: 'string' } } },
  'map of string': { type: 'object', additionalProperties: { type: 'string' } },
  'list of string': { type: 'array', items: { type: 'string' } },
  'list of any': { type: 'array', items: {} },
  'list of map of list of string': {
    type: 'array',
    items: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
  },
  'list of map of list of any': {
    type: 'array',
    items: { type: 'object', additionalProperties: { type: 'array', items: {} } },
  },
  'map with env.env2.value:int and inline:string': {
    type: 'object',
    properties: {
      env: {
        type: 'object',
        properties: { env2: { type: 'object', properties: { value: { type: 'integer' } } } },
      },
      inline: { type: 'string' },
    },
  },
}

describe('conformance with the cases of the OpenTelemetry Collector', function () {
  if (!existsSync(folder)) {
    it(`is skipped: the cases are not at ${folder}`, function () {
      this.skip()
    })
    return
  }
  const cases = [
    ...read<ExpansionCase>('expansion.json').map(one => ({ name: one.name, check: () => checkExpansion(one) })),
    ...read<IdCase>('ids.json').map(one => ({ name: `${one.kind} "${one.input}"`, check: () => checkId(one) })),
    ...read<UriCase>('yaml-provider.json').map(one => ({ name: `yaml: ${one.name}`, check: () => checkUri(one) })),
  ]

  it('has 466 cases, each with a name of its own', () => {
    assert.equal(cases.length, 466)
    assert.equal(new Set(cases.map(({ name }) => name)).size, 466)
  })

  it('passes all but those that are listed', () => {
    const listed = new Set([...deviations, ...notApplicable].map(one => one.case))
    const failures: string[] = []
    for (const { name, check } of cases) {
      if (listed.has(name)) continue
      try {
        check()
      } catch (error) {
        failures.push(`${name}: ${(error as Error).message}`)
      }
    }
    assert.deepEqual(failures, [])
  })

  it('lists only cases that exist and that it does not pass', () => {
    const byName = new Map(cases.map(one => [one.name, one.check]))
    for (const { case: name, reason } of [...deviations, ...notApplicable]) {
      assert.ok(reason.length > 20, `${name}: no reason`)
      const check = byName.get(name)
      assert.ok(check !== undefined, `${name}: no such case`)
      assert.throws(check, `${name} passes; take it off the list`)
    }
  })
})

function read<Case>(file: string): Case[] {
  return (JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as { cases: Case[] }).cases
}

function checkExpansion(one: ExpansionCase): void {
  const { root, findings } = one.test_scheme === undefined ? resolveCase(one) : resolveWithTestScheme(one)
  const target = targetOf(one)
  const onNothing = one.target_type === undefined ? {} : { onNothing: () => {} }
  const problems = findings.map(finding => finding.message)
  const value = root && plainValue(root, [target], onNothing)
  if (one.target_type !== undefined && root !== undefined)
    problems.push(...validatorFor(target)(value).map(error => error.message ?? error.keyword))
  if (one.expect_error !== undefined) assert.notEqual(problems.length, 0, 'no problem was found')
  else assert.deepEqual(problems, [])
  if (one.expect !== undefined) assert.deepEqual(value, one.expect)
  for (const [path, expected] of Object.entries(one.expect_paths ?? {}))
    assert.deepEqual(
      path.split('.').reduce<unknown>((below, key) => (below as Record<string, unknown>)[key], value),
      expected,
    )
}

function targetOf({ target_type, test_scheme }: ExpansionCase): Schema {
  if (target_type !== undefined) return { type: 'object', properties: { field: TARGETS[target_type]! } }
  // The custom source of those cases gives texts and nothing else.
  return test_scheme === undefined ? {} : { type: 'object', additionalProperties: { type: 'string' } }
}

type Resolved = { root: YamlNode | undefined; findings: readonly Finding[] }

function resolveCase({ config_yaml, input, files, env }: ExpansionCase): Resolved {
  const texts = new Map(Object.entries({ ...files, 'config.yaml': config_yaml ?? JSON.stringify(input) }))
  const readFile = (path: string) => {
    for (const [name, text] of texts) if (resolve(name) === path) return Buffer.from(text)
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
  }
  return resolveConfig({ files: ['config.yaml'], set: [], env, readFile })
}

/** `${test:x}` is x, unless the case is about one that fails or gives itself. */
function resolveWithTestScheme({ input, env, expect_error }: ExpansionCase): Resolved {
  const findings: Finding[] = []
  const test: Scheme = {
    takesDefault: false,
    retrieve(name) {
      if (name.includes('$')) return { problem: 'a dollar' }
      if (expect_error?.startsWith("the provider's")) return { problem: 'it fails' }
      const text = expect_error === undefined ? name : `\${test:${name}}`
      return { text, key: `test:${name}`, label: name }
    },
  }
  const schemes = new Map([
    ['env', environmentScheme(env)],
    ['test', test],
  ])
  const { root } = readYaml(createSource('config.yaml', JSON.stringify(input)))
  return { root: createExpander(schemes, finding => findings.push(finding)).expandAll(root), findings }
}

function checkId({ kind, input, expect, type, signal, name }: IdCase): void {
  const id = kind === 'pipeline-id' ? parsePipelineId(input) : parseId(input)
  if (expect === 'error' || 'problem' in id) {
    // A type on its own has no name.
    const isTypeWithName = kind === 'component-type' && !('problem' in id) && id.name !== ''
    assert.equal('problem' in id || isTypeWithName ? 'error' : 'ok', expect)
    return
  }
  assert.equal(id.type, type ?? signal ?? input)
  assert.equal(id.name, name ?? '')
}

/** A config given on the command line is `--set` with us. */
function checkUri({ uri, expect }: UriCase): void {
  const set = uri
    .replace(/^yaml:/, '')
    .split('\n')
    .map(line => line.replace(': ', '='))
  const { root, findings } = resolveConfig({ files: [], set, env: {} })
  assert.deepEqual(findings, [])
  assert.deepEqual(root && plainValue(root, []), expect)
}
