/** Prometheus relabelling: rules in order, on a label set in which the name of the series is the label `__name__`. */
import { compileRegex, type AnchoredRegex } from './regex.ts'
import { completeRule, type CompleteRule, type RelabelAction, type RelabelRule } from './rule.ts'
import { parseTemplate, type Template } from './template.ts'

/** The labels afterwards, or undefined if the rules drop the series. Does not write into what it is given. */
export type Relabel = (labels: ReadonlyMap<string, string>) => ReadonlyMap<string, string> | undefined

/** A label that is not there is ''; one that is set to '' is gone. */
type Labels = Map<string, string>
/** False drops the series. */
type Step = (labels: Labels) => boolean

/** The rules must be free of problems (`checkRelabelRules`). */
export function compileRelabel(rules: readonly RelabelRule[]): Relabel {
  const steps = rules.map(compileRule)
  return labels => {
    const changed: Labels = new Map(labels)
    return steps.every(step => step(changed)) ? changed : undefined
  }
}

type Compiled = {
  readonly regex: AnchoredRegex
  readonly target: Template
  readonly replacement: Template
  /** The values of the source labels, joined. */
  value(labels: Labels): string
}

function compileRule(given: RelabelRule): Step {
  const rule = completeRule(given)
  return ACTIONS[rule.action as RelabelAction](
    {
      regex: compileRegex(rule.regex),
      target: parseTemplate(rule.target_label),
      replacement: parseTemplate(rule.replacement),
      value: labels => rule.source_labels.map(name => labels.get(name) ?? '').join(rule.separator),
    },
    rule,
  )
}

const ACTIONS: Record<RelabelAction, (compiled: Compiled, rule: CompleteRule) => Step> = {
  replace:
    ({ regex, target, replacement, value }) =>
    labels => {
      const groups = regex.match(value(labels))
      if (groups === undefined) return true
      return set(labels, target.expand(groups), replacement.expand(groups))
    },
  keep:
    ({ regex, value }) =>
    labels =>
      regex.matches(value(labels)),
  drop:
    ({ regex, value }) =>
    labels =>
      !regex.matches(value(labels)),
  keepequal:
    ({ value }, { target_label }) =>
    labels =>
      (labels.get(target_label) ?? '') === value(labels),
  dropequal:
    ({ value }, { target_label }) =>
    labels =>
      (labels.get(target_label) ?? '') !== value(labels),
  hashmod:
    ({ value }, { target_label, modulus }) =>
    labels =>
      set(labels, target_label, hashPart(value(labels), modulus)),
  lowercase:
    ({ value }, { target_label }) =>
    labels =>
      set(labels, target_label, eachCharacter(value(labels), lower)),
  uppercase:
    ({ value }, { target_label }) =>
    labels =>
      set(labels, target_label, eachCharacter(value(labels), upper)),
  labelmap:
    ({ regex, replacement }) =>
    labels => {
      for (const [name, value] of Array.from(labels)) {
        const groups = regex.match(name)
        if (groups !== undefined) set(labels, replacement.expand(groups), value)
      }
      return true
    },
  labeldrop:
    ({ regex }) =>
    labels => {
      for (const name of labels.keys()) if (regex.matches(name)) labels.delete(name)
      return true
    },
  labelkeep:
    ({ regex }) =>
    labels => {
      for (const name of labels.keys()) if (!regex.matches(name)) labels.delete(name)
      return true
    },
}

/** A name that came out empty, or not as text, is no name: then nothing happens. */
function set(labels: Labels, name: string, value: string): true {
  if (name === '' || !name.isWellFormed()) return true
  if (value === '') labels.delete(name)
  else labels.set(name, value)
  return true
}

/** As Prometheus: the last eight bytes of the MD5, so that targets stay in their shard whoever computes it. */
function hashPart(value: string, modulus: number): string {
  // Loaded for `hashmod` alone: it takes 5 MB.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const hash = createHash('md5').update(value).digest()
  return String(hash.readBigUInt64BE(8) % BigInt(modulus))
}

/** Go maps one character to one; JavaScript would make SS of ß. */
function eachCharacter(text: string, map: (character: string) => string): string {
  return Array.from(text, character => {
    const mapped = map(character)
    return Array.from(mapped).length === 1 ? mapped : character
  }).join('')
}

function lower(character: string): string {
  // The one letter whose lower case is a single character in Go and two in JavaScript.
  return character === '\u0130' ? 'i' : character.toLowerCase()
}

function upper(character: string): string {
  return character.toUpperCase()
}
