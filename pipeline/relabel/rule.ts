/** What users write as a relabelling rule, and what is wrong with it. */
import type { Problem } from '../component.ts'
import { compileRegex } from './regex.ts'

export const RELABEL_ACTIONS = [
  'replace',
  'keep',
  'drop',
  'keepequal',
  'dropequal',
  'hashmod',
  'labelmap',
  'labeldrop',
  'labelkeep',
  'lowercase',
  'uppercase',
] as const
export type RelabelAction = (typeof RELABEL_ACTIONS)[number]

const DEFAULTS = { separator: ';', regex: '(.*)', replacement: '$1', action: 'replace' } as const

/** The field of a config that takes rules, for schemas. */
export const relabelRules = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    properties: {
      source_labels: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Labels whose values are joined by `separator` and compared with `regex`. The name of a series is `__name__`.',
      },
      separator: { type: 'string', default: DEFAULTS.separator, description: 'Stands between the values.' },
      regex: {
        type: 'string',
        default: DEFAULTS.regex,
        description: 'RE2 expression that must match the whole value, or, for the label actions, the whole name.',
      },
      modulus: { type: 'integer', minimum: 0, description: 'For `hashmod`: how many parts there are.' },
      target_label: { type: 'string', description: 'The label that is written. May refer to groups, as `$1`.' },
      replacement: {
        type: 'string',
        default: DEFAULTS.replacement,
        description: 'What is written; `$1`, `${1}` and `${name}` are groups of the expression, `$$` is a dollar.',
      },
      action: {
        type: 'string',
        default: DEFAULTS.action,
        description: `What is done: ${RELABEL_ACTIONS.join(', ')}.`,
      },
    },
  },
} as const

export type RelabelRule = {
  readonly source_labels?: readonly string[]
  readonly separator?: string
  readonly regex?: string
  readonly modulus?: number
  readonly target_label?: string
  readonly replacement?: string
  readonly action?: string
}

/** With defaults filled in. Actions are accepted in any case, as Prometheus does. */
export type CompleteRule = Required<Omit<RelabelRule, 'action'>> & { readonly action: string }

export function completeRule(rule: RelabelRule): CompleteRule {
  return {
    source_labels: rule.source_labels ?? [],
    separator: rule.separator ?? DEFAULTS.separator,
    regex: rule.regex ?? DEFAULTS.regex,
    modulus: rule.modulus ?? 0,
    target_label: rule.target_label ?? '',
    replacement: rule.replacement ?? DEFAULTS.replacement,
    action: (rule.action ?? DEFAULTS.action).toLowerCase(),
  }
}

const NEED_TARGET: ReadonlySet<string> = new Set([
  'replace',
  'hashmod',
  'lowercase',
  'uppercase',
  'keepequal',
  'dropequal',
])

/** Problems of a list of rules; paths start with the number of the rule. */
export function checkRelabelRules(rules: readonly RelabelRule[]): Problem[] {
  return rules.flatMap((rule, i) => checkRule(rule).map(({ path, message }) => ({ path: [i, ...path], message })))
}

function checkRule(given: RelabelRule): Problem[] {
  const rule = completeRule(given)
  const isKnown = RELABEL_ACTIONS.some(known => known === rule.action)
  if (isKnown) return [...regexProblems(rule), ...missing(rule), ...surplus(rule)]
  const message = `unknown action "${given.action}"; there are ${RELABEL_ACTIONS.join(', ')}`
  return [{ path: ['action'], message }, ...regexProblems(rule)]
}

function regexProblems({ regex }: CompleteRule): Problem[] {
  try {
    compileRegex(regex)
    return []
  } catch (error) {
    return [{ path: ['regex'], message: `bad regular expression: ${(error as Error).message}` }]
  }
}

function missing({ action, target_label, modulus }: CompleteRule): Problem[] {
  const problems: Problem[] = []
  if (NEED_TARGET.has(action) && target_label === '') {
    problems.push({ path: [], message: `action ${action} needs \`target_label\`` })
  }
  if (action === 'hashmod' && modulus === 0) {
    problems.push({ path: [], message: 'action hashmod needs a `modulus` above 0' })
  }
  return problems
}

/** Options that an action would ignore: whoever wrote them expects something of them. */
function surplus(rule: CompleteRule): Problem[] {
  const set = {
    source_labels: rule.source_labels.length > 0,
    separator: rule.separator !== DEFAULTS.separator,
    regex: rule.regex !== DEFAULTS.regex,
    modulus: rule.modulus !== 0,
    target_label: rule.target_label !== '',
    replacement: rule.replacement !== DEFAULTS.replacement,
  }
  const useless: Partial<Record<string, readonly (keyof typeof set)[]>> = {
    labeldrop: ['source_labels', 'separator', 'modulus', 'target_label', 'replacement'],
    labelkeep: ['source_labels', 'separator', 'modulus', 'target_label', 'replacement'],
    keepequal: ['separator', 'regex', 'modulus', 'replacement'],
    dropequal: ['separator', 'regex', 'modulus', 'replacement'],
    lowercase: ['replacement'],
    uppercase: ['replacement'],
  }
  return (useless[rule.action] ?? [])
    .filter(option => set[option])
    .map(option => ({ path: [option], message: `action ${rule.action} makes no use of \`${option}\`` }))
}
