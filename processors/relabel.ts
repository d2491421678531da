/**
 * Changes labels and names, and drops series, by Prometheus relabelling rules.
 *
 * Place it anywhere; before `join_workload` if it drops what nobody needs.
 */
import type { ConfigSchema } from '../pipeline/component.ts'
import { relabelSeries } from '../pipeline/relabel/relabel-series.ts'
import { checkRelabelRules, relabelRules } from '../pipeline/relabel/rule.ts'
import { defineSeriesProcessor } from '../pipeline/series-processor.ts'

const config = {
  type: 'object',
  properties: {
    rules: { ...relabelRules, default: [], description: 'Rules as in metric_relabel_configs of Prometheus, in order.' },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const relabel = defineSeriesProcessor({
  type: 'relabel',
  summary: 'Changes labels and names, and drops series, by Prometheus relabelling rules.',
  config,
  example: { rules: [{ action: 'labeldrop', regex: 'pci_bus_id' }] },
  check: ({ rules }) => checkRelabelRules(rules).map(({ path, message }) => ({ path: ['rules', ...path], message })),

  create: ({ rules }) => relabelSeries(rules),
})
