import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderOwnMetricsPage } from '../../../pipeline/telemetry/own-metrics-page.ts'
import { OWN_METRICS, prometheusName } from '../../../pipeline/telemetry/own-metrics.ts'

const root = join(import.meta.dirname, '../../..')
const TABLE = 'pipeline/telemetry/own-metrics.ts'

/** Every own metric that the sources name outside of the table, with the files that do. */
function namesInSources(): Map<string, string[]> {
  const files = globSync(['pipeline/**/*.ts', 'receivers/**/*.ts', 'processors/**/*.ts', 'exporters/**/*.ts'], {
    cwd: root,
  })
  const filesByName = new Map<string, string[]>()
  for (const file of files.filter(file => file !== TABLE)) {
    const source = readFileSync(join(root, file), 'utf8')
    for (const [, name] of source.matchAll(/\.(?:add|record|counter|histogram|observe)\(\s*['"`](gpucol_\w+)['"`]/g)) {
      filesByName.set(name!, [...(filesByName.get(name!) ?? []), file])
    }
  }
  return filesByName
}

describe('own metrics', () => {
  const names = OWN_METRICS.map(metric => metric.name)

  it('have names by one rule, each of them once', () => {
    assert.deepEqual(names, [...new Set(names)])
    for (const metric of OWN_METRICS) {
      assert.match(
        metric.name,
        /^gpucol_(receiver|processor|rollup|deprecated|exporter|http_server|config|build|process)_[a-z0-9_]+$/,
      )
      assert.doesNotMatch(metric.name, /_total$/, 'Prometheus gets it from the kind')
      if (metric.unit === 's') assert.match(metric.name, /_seconds$/)
      if (metric.unit === 'By') assert.match(metric.name, /_bytes$/)
      assert.match(metric.description, /^\S.*\.$/)
      assert.equal(metric.buckets !== undefined, metric.kind === 'histogram')
    }
  })

  it('are in the table if anything in the sources counts them', () => {
    const unknown = [...namesInSources()].filter(([name]) => !names.includes(name))
    assert.deepEqual(unknown, [])
  })

  it('are counted somewhere if they are in the table', () => {
    const counted = namesInSources()
    assert.deepEqual(
      names.filter(name => !counted.has(name)),
      [],
    )
  })

  it('are all on the page, and nothing else is', () => {
    const page = readFileSync(join(root, 'configs/own-metrics.md'), 'utf8')
    assert.equal(page, renderOwnMetricsPage(), 'configs/own-metrics.md is not up to date: npm run generate')
    const rows = Array.from(page.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm), ([, shown, name]) => [shown, name])
    assert.deepEqual(
      rows,
      OWN_METRICS.map(metric => [prometheusName(metric), metric.name]),
    )
  })
})
