/** Migrating there and back gives the text as it was, whatever the expression: those that are made here, and those of real files. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { applyEdits } from '../../../pipeline/migrate/edits.ts'
import { findQueries } from '../../../pipeline/migrate/find-queries.ts'
import { readContent, readInput } from '../../../pipeline/migrate/input-file.ts'
import { migrateFiles } from '../../../pipeline/migrate/migrate-files.ts'
import { parsePromql } from '../../../pipeline/migrate/promql-tree.ts'
import { rewriteExpression } from '../../../pipeline/migrate/rewrite-expression.ts'
import { withoutVariables } from '../../../pipeline/migrate/grafana-variables.ts'
import type { Vocabulary } from '../../../pipeline/migrate/vocabulary.ts'
import { expressions } from '../../support/random-promql.ts'
import { sharedPath } from '../../support/shared.ts'
import { vocabularyBetween } from '../../support/vocabularies.ts'

const PAIRS = [
  ['runai-2.16', 'runai-2.17'],
  ['runai-2.12', 'runai-2.17'],
  ['runai-2.12', 'runai-2.16'],
  ['dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['dcgm-exporter-1', 'dcgm-exporter-4.9'],
  ['dcgm-exporter-1', 'dcgm-exporter-4.8'],
  ['kube-state-metrics-1', 'kube-state-metrics-2'],
] as const

/** Files, and the names that they have. */
const REAL = [
  ['dcgm-exporter.json', 'dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['skypilot-dcgm-cluster.json', 'dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['skypilot-compute-overview.json', 'dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['gpu-operator-dcgm-rules.yaml', 'dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['ibm-autopilot-grafanadashboard.yaml', 'dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['gpu-monitoring-tools-2018-nodes.json', 'dcgm-exporter-1', 'dcgm-exporter-4.8'],
  ['gpu-monitoring-tools-2018-nodes.json', 'dcgm-exporter-1', 'dcgm-exporter-4.9'],
  ['gpu-monitoring-tools-2018-pods.json', 'kube-state-metrics-1', 'kube-state-metrics-2'],
  ['awesome-alerts-kubestate.yml', 'kube-state-metrics-2', 'kube-state-metrics-1'],
] as const

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 400)

function rewrite(text: string, vocabulary: Vocabulary, acceptsOtherValues: boolean) {
  const around = { recorded: new Map(), translatedVariables: new Map() }
  const rewriting = rewriteExpression(text, { vocabulary, acceptsOtherValues, ...around })
  return { ...rewriting, result: applyEdits(text, rewriting.edits) }
}

describe('migrating there and back', function () {
  this.timeout(60_000)

  for (const [from, to] of PAIRS.flatMap(([a, b]) => [[a, b] as const, [b, a] as const])) {
    it(`gives the expression as it was, from ${from} to ${to}`, () => {
      const [there, back] = [vocabularyBetween(from, to), vocabularyBetween(to, from)]
      let count = 0
      const any = fc.oneof(expressions(there, 'grafana'), expressions(there, 'grafana', 'mixed'))
      fc.assert(
        fc.property(any, fc.boolean(), (text, accepts) => {
          const first = rewrite(text, there, accepts)
          const isPromql = 'root' in parsePromql(withoutVariables(first.result).text)
          assert.ok(isPromql || first.result === text, first.result)
          if (!first.isUnderstood) {
            assert.ok(first.remarks.length + first.notes.length > 0, 'nothing is said')
            return
          }
          const second = rewrite(first.result, back, accepts)
          assert.equal(second.result, text, first.result)
          if (first.result === text) return
          assert.deepEqual(second.remarks, [], first.result)
          count++
        }),
        { numRuns: RUNS },
      )
      assert.ok(count > 10, `only ${count} expressions were rewritten`)
    })
  }

  const folder = sharedPath('captures', 'dashboards')
  const files = folder === undefined ? [] : readdirSync(folder).filter(name => !name.endsWith('.md'))
  for (const [name, from, to] of REAL) {
    it(`gives ${name} as it was, from ${from} to ${to}`, function () {
      if (folder === undefined) this.skip()
      const [there, back] = [vocabularyBetween(from, to), vocabularyBetween(to, from)]
      const [first] = migrateFiles([readInput(`${folder}/${name}`)], { vocabulary: there })
      assert.ok(first!.isChanged)
      const [second] = migrateFiles([readContent(name, first!.text)], { vocabulary: back })
      assert.equal(second!.text, first!.input.source.text)
    })
  }

  it('understands more than 95 of 100 expressions of real dashboards and rules', () => {
    const inputs = files.map(name => readInput(`${folder}/${name}`))
    const all = migrateFiles(inputs, { vocabulary: vocabularyBetween('dcgm-exporter-4.8', 'dcgm-exporter-4.9') })
    const total = all.reduce((count, { counts }) => count + counts.expressions, 0)
    const good = all.reduce((count, { counts }) => count + counts.understood, 0)
    assert.ok(good >= 0.95 * total, `${good} of ${total}`)
    if (folder !== undefined) assert.ok(total > 900 && inputs.flatMap(({ tree }) => findQueries(tree)).length > 13)
  })
})
