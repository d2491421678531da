/**
 * Expressions before and after `gpucol migrate`, asked of a real Prometheus: one has the series in the old names, labels and units, the
 * other has the same in the new ones. Both give the same numbers.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { applyEdits } from '../../pipeline/migrate/edits.ts'
import { rewriteExpression } from '../../pipeline/migrate/rewrite-expression.ts'
import { eventually, freePorts, get, startProcess, type GpucolProcess } from '../support/gpucol-process.ts'
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

type Answer = { status: string; data: { resultType: string; result: unknown } }

/** The numbers of the answer in order; undefined if Prometheus refuses the question. */
async function ask(api: string, expression: string): Promise<number[] | undefined> {
  const query = new URLSearchParams({ query: expression, time: String(END_SECONDS) })
  const response = await fetch(`${api}/query`, { method: 'POST', body: query })
  const { status, data } = (await response.json()) as Answer
  if (status !== 'success') return undefined
  if (data.resultType === 'scalar') return [Number((data.result as [number, string])[1])]
  const vector = data.result as { value?: [number, string] }[]
  return vector.map(({ value }) => Number(value?.[1])).sort((a, b) => a - b)
}

function isNearly(a: readonly number[], b: readonly number[] | undefined): boolean {
  return (
    a.length === b?.length &&
    a.every((one, i) => Object.is(one, b[i]) || Math.abs(one - b[i]!) <= TOLERANCE * Math.max(Math.abs(one), 1e-9))
  )
}
