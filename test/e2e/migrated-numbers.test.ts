/**
 * Expressions before and after `gpucol migrate`, asked of a real Prometheus: one has the series in the old names, labels and units, the
 * other has the same in the new ones. Both give the same numbers.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { applyEdits } from '../../pipeline/migrate/edits.ts'
import { rewriteExpression } from '../../pipeline/migrate/rewrite-expression.ts'
import {
  eventually,
  freePorts,
  freePortsInARow,
  get,
  root,
  startGpucol,
  startProcess,
  type GpucolProcess,
} from '../support/gpucol-process.ts'
import { programOrSkip } from '../support/programs.ts'
import { expressions } from '../support/random-promql.ts'
import { vocabularyBetween } from '../support/vocabularies.ts'
import { comparableChanges, END_SECONDS, seriesOf } from './migrated-numbers/series.ts'

const PAIRS = [
  ['runai-2.16', 'runai-2.17'],
  ['runai-2.17', 'runai-2.16'],
  ['runai-2.12', 'runai-2.17'],
  ['dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
  ['dcgm-exporter-4.9', 'dcgm-exporter-4.8'],
  ['dcgm-exporter-1', 'dcgm-exporter-4.9'],
  ['kube-state-metrics-1', 'kube-state-metrics-2'],
] as const

const COUNT = Number(process.env['FUZZ_RUNS'] ?? 400)
const TOLERANCE = 1e-9

/** Of dashboards for Run:ai 2.16. */
const REAL = [
  'runai_node_gpu_used_memory_bytes / runai_node_total_memory_bytes * 100',
  'sum(runai_node_total_memory_bytes) / 2 ^ 30',
  'sum by (job_uuid) (runai_job_requested_gpus)',
  'topk(5, runai_gpu_utilization_per_workload)',
  'avg by (job_type) (runai_gpu_utilization_per_workload) > 10',
  'runai_allocated_gpu_count_per_workload * on (job_uuid) group_left(job_name) runai_gpu_utilization_per_workload',
  'count(runai_gpu_memory_used_mebibytes_per_workload > 1000)',
  'sum by (project) (runai_job_requested_gpus)',
  'count(runai_job_total_runtime) by (clusterId)',
  'sum(runai_active_job_cpu_requested_cores) / on () sum(runai_gpu_count_per_node)',
  'count by (department_name) (runai_project_info)',
  'sum(runai_job_requested_gpu_memory)',
]

describe('migrated expressions and a real Prometheus', function () {
  this.timeout(300_000)
  let folder: string
  let running: GpucolProcess[] = []

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    writeFileSync(join(folder, 'prometheus.yaml'), '{}')
  })
  afterEach(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    running = []
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** A Prometheus that has these series, and the address of its API. */
  async function start(context: Mocha.Context, name: string, text: string): Promise<string> {
    const [program, tool] = [programOrSkip(context, 'prometheus'), programOrSkip(context, 'promtool')]
    const [port] = await freePorts(1)
    const data = join(folder, name)
    writeFileSync(`${data}.txt`, text)
    execFileSync(tool, ['tsdb', 'create-blocks-from', 'openmetrics', `${data}.txt`, data], { stdio: 'ignore' })
    running.push(
      startProcess(program, [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${data}`,
        '--storage.tsdb.retention.time=100y',
        '--enable-feature=promql-at-modifier,promql-negative-offset',
        `--web.listen-address=127.0.0.1:${port}`,
      ]),
    )
    const api = `http://127.0.0.1:${port}`
    await eventually(
      () => get(`${api}/-/ready`),
      answer => /ready/i.test(answer),
    )
    return `${api}/api/v1`
  }

  it('give the same numbers of a simulated cluster that emits the names of 2.16 and of 2.17', async function () {
    programOrSkip(this, 'prometheus')
    const pages = await pagesOfBoth(folder, running)
    const [before, after] = [
      await start(this, 'old', withTimes(pages.old)),
      await start(this, 'new', withTimes(pages.new)),
    ]
    const vocabulary = vocabularyBetween('runai-2.16', 'runai-2.17')
    const empty: string[] = []
    for (const text of REAL) {
      // In the simulated cluster a job is a workload, if by another id.
      const { edits, remarks } = rewriteExpression(text, {
        vocabulary,
        acceptsOtherValues: true,
        recorded: new Map(),
        translatedVariables: new Map(),
      })
      assert.deepEqual(remarks, [], text)
      const migrated = applyEdits(text, edits)
      const [numbers, found] = [await ask(before, text), await ask(after, migrated)]
      assert.ok(
        numbers !== undefined && isNearly(numbers, found),
        `${text}\n${migrated}\n${String(numbers)}\n${String(found)}`,
      )
      if (numbers.length === 0) empty.push(text)
    }
    assert.ok(empty.length <= 2, empty.join('\n'))
  })

  for (const [from, to] of PAIRS) {
    it(`give the same numbers, from ${from} to ${to}`, async function () {
      const vocabulary = vocabularyBetween(from, to)
      const changes = comparableChanges(vocabulary)
      const before = await start(this, `${from}-${to}-before`, seriesOf(changes, 'before'))
      const after = await start(this, `${from}-${to}-after`, seriesOf(changes, 'after'))
      const comparable = { ...vocabulary, changes: new Map(changes.map(change => [change.name, [change]])) }
      let compared = 0
      for (const text of fc.sample(expressions(comparable, 'prometheus'), { numRuns: COUNT, seed: 1 })) {
        const rewriting = rewriteExpression(text, { vocabulary, recorded: new Map(), translatedVariables: new Map() })
        const isSure = !rewriting.notes.some(({ message }) => /rounding|any more/.test(message))
        if (rewriting.edits.length === 0 || !isSure) continue
        const numbers = await ask(before, text)
        // Not all that the grammar allows is a question: types do not fit, or the sides of a join.
        if (numbers === undefined) continue
        const migrated = applyEdits(text, rewriting.edits)
        const found = await ask(after, migrated)
        assert.ok(isNearly(numbers, found), `${text}\n${migrated}\n${String(numbers)}\n${String(found)}`)
        if (numbers.length > 0) compared++
      }
      assert.ok(compared > COUNT / 20, `only ${compared} of ${COUNT} expressions gave numbers`)
    })
  }
})

/** What gpucol emits of one simulated cluster, whose clock stands, in the old names and in the new ones. */
async function pagesOfBoth(folder: string, running: GpucolProcess[]): Promise<{ old: string; new: string }> {
  const simulator = await freePortsInARow(3)
  const [oldPort, newPort] = (await freePorts(2)) as [number, number]
  const kubeconfig = join(folder, 'kubeconfig')
  const example = readFileSync(join(root, 'configs/examples/demo.kubeconfig'), 'utf8')
  writeFileSync(kubeconfig, example.replace('127.0.0.1:19400', `127.0.0.1:${simulator}`))
  const targets = [1, 2].map(node => `http://127.0.0.1:${simulator + node}/metrics`)
  const pipeline = (processors: string[], exporter: string) => ({
    receivers: ['dcgm', 'kubernetes_api'],
    processors: ['normalize', 'join_workload', 'roll_up', ...processors],
    exporters: [exporter],
  })
  const config = {
    extensions: {
      simulator: { nodes: 2, gpus_per_node: 8, seed: 1, speed: 0, endpoint: `127.0.0.1:${simulator}` },
    },
    receivers: {
      dcgm: { scrape_interval: '1s', scrape_timeout: '900ms', static_targets: targets },
      kubernetes_api: { kubeconfig },
    },
    processors: {
      normalize: {},
      join_workload: {},
      roll_up: { catalog: 'runai-2.17', interval: '1s', cluster_id: 'a' },
      rename: { from: 'runai-2.17', to: 'runai-2.16' },
    },
    exporters: {
      'prometheus/old': { endpoint: `127.0.0.1:${oldPort}` },
      'prometheus/new': { endpoint: `127.0.0.1:${newPort}` },
    },
    service: {
      extensions: ['simulator'],
      telemetry: { metrics: { address: 'none' } },
      pipelines: {
        'metrics/old': pipeline(['rename'], 'prometheus/old'),
        'metrics/new': pipeline([], 'prometheus/new'),
      },
    },
  }
  const path = join(folder, 'gpucol.yaml')
  writeFileSync(path, stringify(config))
  running.push(startGpucol(['run', '--config', path]))
  const isThere = (text: string) => /^runai_gpu_utilization_per_workload\{/m.test(text)
  const old = await eventually(() => get(`http://127.0.0.1:${oldPort}/metrics`), isThere)
  const page = await eventually(() => get(`http://127.0.0.1:${newPort}/metrics`), isThere)
  return { old, new: page }
}

/** The metrics of Run:ai on a page, as if scraped when questions are asked. */
function withTimes(page: string): string {
  const lines = page.split('\n').filter(line => line.startsWith('runai_'))
  const byName = Map.groupBy(lines, line => /^\w+/.exec(line)![0])
  const parts = [...byName].map(
    ([name, its]) => `# TYPE ${name} unknown\n${its.map(line => `${line} ${END_SECONDS}\n`).join('')}`,
  )
  return `${parts.join('')}# EOF\n`
}

type Answer = { status: string; data: { resultType: string; result: unknown } }

/** The numbers of the answer in order; undefined if Prometheus refuses the question. */
async function ask(api: string, expression: string): Promise<number[] | undefined> {
  const query = new URLSearchParams({ query: expression, time: String(END_SECONDS) })
  const response = await fetch(`${api}/query`, { method: 'POST', body: query })
  const { status, data } = (await response.json()) as Answer
  if (status !== 'success') return undefined
  if (data.resultType === 'scalar') return [Number((data.result as [number, string])[1])]
  const vector = data.result as { value?: [number, string] }[]
  return vector.map(({ value }) => Number(value?.[1])).sort(withNaNLast)
}

function withNaNLast(a: number, b: number): number {
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || a - b || 0
}

function isNearly(a: readonly number[], b: readonly number[] | undefined): boolean {
  return (
    a.length === b?.length &&
    a.every((one, i) => Object.is(one, b[i]) || Math.abs(one - b[i]!) <= TOLERANCE * Math.max(Math.abs(one), 1e-9))
  )
}
