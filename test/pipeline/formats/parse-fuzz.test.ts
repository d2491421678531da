/**
 * Reads sequences of payloads, each a mutation of the one before, and compares every result with that of a plain reader.
 * FUZZ_RUNS says how many sequences; FUZZ_SEED repeats a run.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createTextReader, type Exposition } from '../../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../../pipeline/formats/sample-line.ts'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { columnCount, labelsAt, metricAt, type Layout } from '../../../pipeline/model/layout.ts'
import { parsePlainly, type PlainExposition } from '../../support/plain-parser.ts'

const runs = Number(process.env['FUZZ_RUNS'] ?? 300)
const seed = process.env['FUZZ_SEED']

describe('reading mutated payloads', () => {
  for (const dialect of ['text', 'openmetrics'] as const) {
    it(`gives what a plain reader gives, as ${dialect}`, function () {
      this.timeout(Math.max(20_000, runs * 100))
      fc.assert(
        fc.property(fc.integer({ min: 0 }), fc.integer({ min: 1, max: 8 }), (seed, length) => {
          const random = createRandom(seed)
          const reader = createTextReader()
          let payload = firstPayload(random, dialect)
          // Some targets never keep an order.
          const restless = random(4) === 0
          let before: Exposition | undefined
          for (let i = 0; i < length; i++) {
            const bytes = Buffer.from(payload.join(''), 'latin1')
            reader.begin(dialect)
            // Now and then an exposition breaks off and must leave no trace.
            if (random(10) === 0) {
              reader.push(bytes.subarray(0, random(bytes.length + 1)))
              reader.begin(dialect)
            }
            for (const chunk of split(bytes, random)) reader.push(chunk)
            const exposition = reader.finish()
            compare(exposition, parsePlainly(bytes, dialect), dialect)
            if (before !== undefined) checkLayouts(before.layout, exposition.layout, dialect)
            before = exposition
            payload = mutate(payload, random)
            if (restless) payload = shuffle(payload, random)
          }
        }),
        { numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) },
      )
    })
  }
})

type Random = (below: number) => number

/** A small generator of its own, so that a seed is all that is needed to repeat a sequence. */
function createRandom(seed: number): Random {
  let state = seed | 0 || 1
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[random(items.length)]!
}

const VALUES = ['0', '1', '29', '-3', '0.5', '139.25', '1e3', '1.2e+10', 'NaN', '+Inf', '12345678901234567', '.5', '5.']
const BAD_LINES = [
  'x\n',
  'x ERROR - FAILED\n',
  'x{\n',
  'x{a="b} 1\n',
  '{a="b"} 1\n',
  'x{a="\xff"} 1\n',
  '# TYPE x nothing\n',
  '\0\n',
  'x{a="1",a="2"} 1\n',
]
const ODD_LINES = [
  '\n',
  '  \n',
  '# comment\n',
  '# EOF\n',
  ' DCGM_FI_A{gpu="0"} 1\n',
  'DCGM_FI_A {gpu="0"} 7\n',
  'DCGM_FI_A{gpu="0"}8\n',
  'DCGM_FI_A{gpu="0",} 9\n',
  '{"DCGM_FI_A",gpu="0"} 5\n',
  '{"dotted.name",gpu="0"} 5\n',
  '{"dotted.name"} 6\n',
  'plain 6\n',
  'plain  7\n',
  'plain\t7 \n',
  'stamped{gpu="1"} 1 1700000000000\n',
  'stamped{gpu="2"} 1.5 1700000000\n',
  'exemplified_bucket{le="1"} 1 # {trace="x}y"} 0.5\n',
  'route{path="/a/{id}/b"} 1\n',
  'route{path="/a/\\"{id}\\"} 1"} 2\n',
  '# HELP DCGM_FI_A another help\n',
  '# TYPE DCGM_FI_A counter\n',
  '# TYPE DCGM_FI histogram\n',
  'DCGM_FI_created{gpu="0"} 1700000000\n',
  'DCGM_FI_sum{gpu="0"} 17\n',
  'crlf{gpu="0"} 17\r\n',
]

function firstPayload(random: Random, dialect: Dialect): string[] {
  const lines: string[] = []
  const gpus = 1 + random(4)
  for (const name of ['DCGM_FI_A', 'DCGM_FI_B', 'DCGM_FI_B_LONGER', 'DCGM_FI_C'].slice(0, 1 + random(4))) {
    lines.push(`# HELP ${name} Help of ${name} (in %).\n`, `# TYPE ${name} gauge\n`)
    for (let gpu = 0; gpu < gpus; gpu++) {
      const pod = random(3) === 0 ? `,pod="p${random(3)}",namespace="default"` : ''
      lines.push(`${name}{gpu="${gpu}",UUID="GPU-${gpu}-0123456789"${pod}} ${pick(VALUES, random)}\n`)
    }
  }
  if (dialect === 'openmetrics') {
    lines.push('# TYPE jobs counter\n', 'jobs_total{gpu="0"} 5\n', 'jobs_created{gpu="0"} 1.5e9\n', '# EOF\n')
  }
  return lines
}

/** Changes some numbers always, and now and then something else. */
function mutate(payload: readonly string[], random: Random): string[] {
  let lines = payload.map(line => (random(3) === 0 ? line.replace(/ [^ ]+\n$/, ` ${pick(VALUES, random)}\n`) : line))
  for (let changes = random(3); changes > 0; changes--) {
    const at = random(lines.length + 1)
    switch (random(11)) {
      case 0:
        lines.splice(at, 1)
        break
      case 1:
        lines.splice(at, 0, pick(lines.length === 0 ? ['a 1\n'] : lines, random))
        break
      case 2:
        lines.splice(at, 0, pick(BAD_LINES, random))
        break
      case 3:
      case 4:
        lines.splice(at, 0, pick(ODD_LINES, random))
        break
      case 5:
        lines = [...lines.slice(at), ...lines.slice(0, at)]
        break
      case 6: {
        const pod = `,pod="p${random(9)}"`
        lines = lines.map(line => line.replace(/(gpu="1"[^}]*?)(,pod="[^"]*")?([,}])/, `$1${pod}$3`))
        break
      }
      case 7:
        lines = shuffle(lines, random)
        break
      case 8: {
        const line = lines[at]
        if (line === undefined) break
        const position = random(line.length)
        lines[at] = line.slice(0, position) + String.fromCharCode(random(256)) + line.slice(position + random(2))
        break
      }
      case 9:
        lines = lines.map(line => line.replace(/\r?\n$/, '\r\n'))
        break
      default:
        if (lines.length > 0) lines[lines.length - 1] = lines.at(-1)!.replace(/\n$/, '')
    }
  }
  return lines
}

function shuffle(lines: readonly string[], random: Random): string[] {
  const keyed = lines.map(line => [random(1000), line] as const)
  return keyed.sort(([a], [b]) => a - b).map(([, line]) => line)
}

function split(bytes: Uint8Array, random: Random): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let start = 0; start < bytes.length;) {
    const length = random(4) === 0 ? 1 + random(5) : 1 + random(bytes.length)
    // A copy of its own, as the next chunk of a network overwrites the last one.
    chunks.push(Uint8Array.from(bytes.subarray(start, start + length)))
    start += length
  }
  return chunks
}

function compare(fast: Exposition, plain: PlainExposition, dialect: Dialect): void {
  const { layout, values, times } = fast
  const seen = new Map<string, { value: number; time: number; described: string }>()
  for (let column = 0; column < columnCount(layout); column++) {
    const { name, family, type, help } = metricAt(layout, column)
    const series = JSON.stringify([name, labelPairs(labelsAt(layout, column)).sort(([a], [b]) => (a < b ? -1 : 1))])
    assert.ok(!seen.has(series), `${series} is there twice`)
    seen.set(series, { value: values[column]!, time: times?.[column] ?? NaN, described: `${family} ${type} ${help}` })
  }
  const expected = new Map<string, { value: number; time: number; described: string }>()
  for (const [series, { name, value, timeMs }] of plain.samples) {
    const described = describe_(name, plain)
    const isStart = / (counter|histogram|summary|gaugehistogram) /.test(described)
    if (dialect === 'openmetrics' && isStart && name === `${described.split(' ')[0]}_created`) continue
    expected.set(series, { value, time: timeMs, described })
  }
  assert.deepEqual(seen, expected)
  assert.equal(fast.samples, plain.sampleLines, 'sample lines')
  assert.equal(fast.duplicates, plain.duplicates, 'duplicates')
  assert.equal(fast.badLines, plain.badLines, 'bad lines')
  assert.equal(fast.exemplars, plain.exemplars, 'exemplars')
}

function describe_(name: string, { families }: PlainExposition): string {
  const text = (family: string, at = families.get(family)): string =>
    `${family} ${at?.type ?? 'unknown'} ${at?.help ?? ''}`
  if (families.get(name)?.type !== undefined) return text(name)
  const suffixes: [string, RegExp][] = [
    ['_total', /^counter$/],
    ['_created', /^(counter|histogram|summary|gaugehistogram)$/],
    ['_bucket', /^(gauge)?histogram$/],
    ['_sum', /^(histogram|summary|gaugehistogram)$/],
    ['_count', /^(histogram|summary|gaugehistogram)$/],
    ['_gsum', /^gaugehistogram$/],
    ['_gcount', /^gaugehistogram$/],
    ['_info', /^info$/],
  ]
  for (const [suffix, types] of suffixes) {
    const family = name.slice(0, -suffix.length)
    if (name.endsWith(suffix) && types.test(families.get(family)?.type ?? '')) return text(family)
  }
  return text(name)
}

/** The layout stays exactly as long as the columns do, and a new one is right about what it kept. */
function checkLayouts(before: Layout, after: Layout, dialect: Dialect): void {
  const columnsOf = (layout: Layout) =>
    Array.from(
      { length: columnCount(layout) },
      (_, column) => [metricAt(layout, column), labelsAt(layout, column)] as const,
    )
  const same = (
    a: ReturnType<typeof columnsOf>[number] | undefined,
    b: ReturnType<typeof columnsOf>[number] | undefined,
  ) => a !== undefined && b !== undefined && a[0] === b[0] && a[1] === b[1]
  const old = columnsOf(before)
  const now = columnsOf(after)
  const unchanged = old.length === now.length && now.every(column => old.some(other => same(other, column)))
  if (before === after) assert.ok(unchanged, 'the layout should have changed')
  // A start time that comes or goes is no column, but may change the order of columns.
  else if (dialect === 'text') assert.ok(!unchanged, 'the layout changed without need')
  if (before === after || after.keptFrom === undefined) return
  assert.equal(after.keptFrom.id, before.id)
  const { runs } = after.keptFrom
  const kept = new Set<number>()
  for (let i = 0; i < runs.length; i += 3) {
    for (let k = 0; k < runs[i + 2]!; k++) {
      assert.ok(same(now[runs[i]! + k], old[runs[i + 1]! + k]), 'a kept column is another one')
      kept.add(runs[i]! + k)
    }
  }
  now.forEach((column, i) => {
    if (!kept.has(i)) assert.ok(!old.some(other => same(other, column)), 'a column was not kept')
  })
}
