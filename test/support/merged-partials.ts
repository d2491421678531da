/** Roll-ups of parts of a cluster, each by a collector of its own, merged into one. */
import type { Labels } from '../../pipeline/model/labels.ts'
import { labelPairs } from '../../pipeline/model/labels.ts'
import { joinWorkload } from '../../processors/join-workload.ts'
import { normalize } from '../../processors/normalize.ts'
import { createAccumulators, finish, mergeSlot, type Accumulators } from '../../processors/roll-up/accumulators.ts'
import type { Partial } from '../../processors/roll-up/cycle.ts'
import type { Rule } from '../../processors/roll-up/rules.ts'
import { batchFromText, createSource } from './batch-from-text.ts'
import { configOf } from './config-of.ts'
import { putCluster, type BuiltCluster } from './random-cluster.ts'
import { rollUpCycle } from './roll-up-cycle.ts'
import { testHost } from './test-host.ts'

/** The merged results as sorted lines. */
export function accumulatedFrom(parts: readonly BuiltCluster[]): string {
  const merged = new Map<string, { rule: Rule; groups: Map<Labels, number>; sums: Accumulators }>()
  for (const part of parts) {
    for (const { rule, groups, sums } of partialsOf(part)) {
      let into = merged.get(rule.metric.name)
      if (into === undefined) {
        into = { rule, groups: new Map(), sums: createAccumulators(MOST_GROUPS, rule.aggregate) }
        merged.set(rule.metric.name, into)
      }
      for (let slot = 1; slot < groups.length; slot++) {
        const labels = groups[slot]
        if (labels === undefined) continue
        const at = into.groups.get(labels) ?? into.groups.size
        into.groups.set(labels, at)
        mergeSlot(into.sums, at, sums, slot, rule.aggregate)
      }
    }
  }
  const lines: string[] = []
  for (const [name, { rule, groups, sums }] of merged) {
    const results = finish(rule, sums)
    for (const [labels, slot] of groups) {
      if (Number.isNaN(results[slot])) continue
      const pairs = labelPairs(labels).map(([label, value]) => `${label}="${value}"`)
      lines.push(`${name}{${pairs.join()}} ${results[slot]}\n`)
    }
  }
  return lines.sort().join('')
}

const MOST_GROUPS = 200

function partialsOf(part: BuiltCluster): readonly Partial[] {
  const host = testHost()
  const { cycle, take } = rollUpCycle(host)
  const join = joinWorkload.create(configOf(joinWorkload, {}), host, take)
  const first = normalize.create(configOf(normalize, {}), host, batch => join.consume(batch))
  putCluster(host.cluster, part)
  for (const { name, node, rows } of part.targets) {
    const source = { ...createSource(name), node }
    first.consume(batchFromText(rows.join('\n'), { source, timeMs: host.clock.now() }))
  }
  cycle.flush(host.clock.now())
  return cycle.partials()
}
