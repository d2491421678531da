/**
 * Changes labels and names, and drops series, by Prometheus relabelling rules.
 *
 * Place it anywhere; before `join_workload` if it drops what nobody needs.
 */
import type { ConfigSchema, Problem } from '../pipeline/component.ts'
import { relabelBeside, relabelSeries } from '../pipeline/relabel/relabel-series.ts'
import { checkRelabelRules, relabelRules, type RelabelRule } from '../pipeline/relabel/rule.ts'
import { defineSeriesProcessor } from '../pipeline/series-processor.ts'

const config = {
  type: 'object',
  properties: {
    rules: { ...relabelRules, default: [], description: 'Rules as in metric_relabel_configs of Prometheus, in order.' },
    keep_original: {
      type: 'boolean',
      default: false,
      description:
        'Whether what comes in goes on as it is, and what the rules make of it beside it: a copy under another name, or with other labels. Rules that drop series then choose what is copied.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const relabel = defineSeriesProcessor({
  type: 'relabel',
  summary: 'Changes labels and names, and drops series, by Prometheus relabelling rules.',
  config,
  example: { rules: [{ action: 'labeldrop', regex: 'pci_bus_id' }] },
  check: ({ rules }) =>
    [...checkRelabelRules(rules), ...withoutSource(rules)].map(({ path, message }) => ({
      path: ['rules', ...path],
      message,
    })),

  create: ({ rules, keep_original: keepOriginal }) => (keepOriginal ? relabelBeside(rules) : relabelSeries(rules)),
})

const NEED_SOURCE = new Set(['keep', 'drop', 'keepequal', 'dropequal', 'hashmod'])

/** Prometheus takes such rules, which look at nothing and so do the same to every series. Nobody means that. */
function withoutSource(rules: readonly RelabelRule[]): Problem[] {
  return rules.flatMap(({ action = 'replace', source_labels = [] }, i) => {
    const needs = NEED_SOURCE.has(action) && source_labels.length === 0
    return needs ? [{ path: [i], message: `action ${action} needs \`source_labels\`` }] : []
  })
}
