import assert from 'node:assert/strict'
import { compareAbsent, comparePresent, compareSeries } from '../../../pipeline/config-tests/compare.ts'
import { formatDifference } from '../../../pipeline/config-tests/difference.ts'
import { readSamples } from '../../../pipeline/config-tests/expected-text.ts'
import type { ExportedState } from '../../../pipeline/config-tests/exported-state.ts'
import { liveSeries, type Live } from '../../../pipeline/config-tests/live-series.ts'
import { parseSelector } from '../../../pipeline/relabel/selector.ts'
import type { Batch } from '../../../pipeline/model/batch.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'

/** What exporters have, by id: texts, each of another source, or whole batches. */
function stateOf(exporters: Record<string, readonly (string | Batch)[]>): ExportedState {
  const batches = Object.entries(exporters).map(([id, given]) => {
    const all = given.map((text, index) =>
      typeof text === 'string'
        ? batchFromText(text, { source: createSource(`source ${index + 1}`), timeMs: 5000 })
        : text,
    )
    return [id, new Map(all.map(batch => [batch.source, batch]))] as const
  })
  return { batches: new Map(batches) }
}

function live(...batches: (string | Batch)[]): Live {
  return liveSeries(stateOf({ prometheus: batches }), () => true)
}

/** The lines of the diff. */
function diff(expected: string, got: Live, tolerance = 0): string[] {
  const content = {
    bytes: Buffer.from(expected),
    name: 'e.prom',
    placeOfLine: () => assert.fail('the text of the test is wrong'),
    describeLine: (line: number) => `e.prom:${line}`,
  }
  const samples = readSamples(content, ({ message }) => assert.fail(message))
  return compareSeries(samples, got, tolerance, content.describeLine).map(formatDifference)
}

describe('comparing expected and live series', () => {
  it('finds no difference where only order, HELP, TYPE and spelling differ', () => {
    const expected = '# HELP a some\n# TYPE a gauge\n\nb 2e0\na{y="2",x="1",} 1.0\n'
    assert.deepEqual(diff(expected, live('a{x="1",y="2"} 1\nb 2\n')), [])
  })

  it('names what is missing, what is surplus, and what is different', () => {
    assert.deepEqual(diff('power{x="1"} 1\nb 2\nc 3\n', live('b 4\nc 3\nd{text="a\\"b"} 5\n')), [
      'missing power{x="1"} 1; there is no power at all (e.prom:1)',
      'surplus d{text="a\\"b"} 5',
      'different b: expected 2, got 4 (e.prom:2)',
    ])
  })

  it('says nothing of surplus and missing where nothing is expected and nothing there', () => {
    assert.deepEqual(diff('', live()), [])
    assert.deepEqual(diff('', live('a 1\n')), ['surplus a 1'])
  })

  it('says which labels are different about the series that was probably meant', () => {
    const got = live('a{x="1",y="2",z="3"} 1\na{x="9",y="8",z="7"} 1\n')
    const cases: Record<string, string | undefined> = {
      'a{x="1",y="2",z="4"}': 'the nearest has z="3"',
      'a{x="1",y="3",z="4"}': 'the nearest has y="2" and z="3"',
      'a{x="1",y="2"}': 'the nearest has z="3"',
      'a{w="0",x="1",y="2",z="3"}': 'the nearest has no w',
      'a{x="9",y="8",z="3"}': 'the nearest has z="7"',
      'a{x="4",y="5",z="6"}': undefined,
    }
    for (const [series, note] of Object.entries(cases)) {
      const [first] = diff(`${series} 1\n`, got)
      assert.equal(first, `missing ${series} 1${note === undefined ? '' : `; ${note}`} (e.prom:1)`)
    }
  })

  it('prefers a series that nobody expects as the one that was meant', () => {
    const lines = diff('a{x="1",y="1"} 1\na{x="2",y="1"} 1\n', live('a{x="1",y="1"} 1\na{x="2",y="2"} 1\n'))
    assert.equal(lines[0], 'missing a{x="2",y="1"} 1; the nearest has y="2" (e.prom:2)')
  })

  it('says which name is like one that does not exist', () => {
    const [first] = diff('gpu_utilisation 1\n', live('gpu_utilization 1\n'))
    assert.equal(first, 'missing gpu_utilisation 1; there is no gpu_utilisation at all, but gpu_utilization (e.prom:1)')
  })

  const values: [expected: string, got: string, tolerance: number, isEqual: boolean][] = [
    ['NaN', 'NaN', 0, true],
    ['NaN', '0', 0.5, false],
    ['+Inf', 'Inf', 0, true],
    ['+Inf', '-Inf', 0.5, false],
    ['+Inf', '1', 0.5, false],
    ['0', '-0', 0, false],
    ['0', '-0', 1e-9, true],
    ['0.1', '0.10000000000000002', 0, false],
    ['0.1', '0.10000000000000002', 1e-9, true],
    ['100', '101', 0.01, true],
    ['100', '102', 0.01, false],
    ['-100', '-101', 0.01, true],
    ['0', '1e-300', 0.01, false],
  ]
  for (const [expected, got, tolerance, isEqual] of values) {
    it(`${expected} and ${got} are ${isEqual ? 'equal' : 'different'} with a tolerance of ${tolerance}`, () => {
      assert.equal(diff(`a ${expected}\n`, live(`a ${got}\n`), tolerance).length, isEqual ? 0 : 1)
    })
  }

  it('says what the tolerance is where there is one', () => {
    assert.deepEqual(diff('a 1\n', live('a 2\n'), 0.1), [
      'different a: expected 1, got 2; the tolerance is 0.1 (e.prom:1)',
    ])
  })

  it('compares times only where one is expected, the own time of a sample or else that of its batch', () => {
    assert.deepEqual(diff('a 1\nb 2\n', live('a 1 7000\nb 2\n')), [])
    assert.deepEqual(diff('a 1 7000\nb 2 5000\n', live('a 1 7000\nb 2\n')), [])
    assert.deepEqual(diff('a 1 7001\nb 2 5001\n', live('a 1 7000\nb 2\n')), [
      'different a: expected 1 7001, got 1 7000 (e.prom:1)',
      'different b: expected 2 5001, got 2 5000 (e.prom:2)',
    ])
  })

  it('takes columns without a usable sample for series without a value', () => {
    const batch = { ...batchFromText('a 1\nb 2\nc 3\n'), absent: Uint32Array.of(0, 2) }
    assert.deepEqual([...live(batch).keys()], ['b'])
  })

  it('applies the pending scale', () => {
    const batch = batchFromText('a 29\n')
    const layout = { ...batch.layout, labels: batch.layout.labels, scales: [{ multiply: 1, divide: 100 }] }
    assert.deepEqual(diff('a 0.29\n', live({ ...batch, layout })), [])
  })

  it('reads names and values with odd characters as they are', () => {
    assert.deepEqual(
      diff('{"hw.gpu",text="line\\nend \\u001b"} 1\n', live('{"hw.gpu",text="line\\nend \\u001b"} 1\n')),
      [],
    )
    assert.deepEqual(diff('', live(batchFromText('a{b="\u001b[31m"} 1\n'))), ['surplus a{b="\\u001b[31m"} 1'])
  })
})

describe('one value for each series', () => {
  const got = (exporters: Record<string, string[]>, exporter?: string) =>
    diff(
      'a 1\n',
      liveSeries(stateOf(exporters), () => true, exporter),
    )

  it('two sources in one exporter are a failure, even if they agree', () => {
    assert.deepEqual(got({ prometheus: ['a 1\n', 'a 1\n'] }), [
      'different a: expected one value, got two values, 1 and 1; from test source 1 and test source 2 in exporter prometheus (e.prom:1)',
    ])
  })

  it('two exporters may have the same value, but not different ones', () => {
    assert.deepEqual(got({ prometheus: ['a 1\n'], debug: ['a 1\n'] }), [])
    assert.deepEqual(got({ prometheus: ['a 1\n'], debug: ['a 2\n'] }), [
      'different a: expected one value, got two values, 1 and 2; from exporter debug and another one (e.prom:1)',
    ])
    assert.deepEqual(got({ prometheus: ['a 1\n'], debug: ['a 2\n'] }, 'prometheus'), [])
  })

  it('a surplus series with two values is both', () => {
    const lines = diff('', live('a 1\n', 'a 2\n'))
    assert.deepEqual(
      lines.map(line => line.split(' ')[0]),
      ['surplus', 'different'],
    )
  })
})

describe('comparing with selectors', () => {
  const got = live('up{job="dcgm",instance="a"} 1\nup{job="dcgm",instance="b"} 0\nup{job="ksm"} 1\n')
  const present = (selector: string, value?: number): string[] =>
    comparePresent(parseSelector(selector), got, value, 0).map(formatDifference)
  const absent = (selector: string): string[] => compareAbsent(parseSelector(selector), got).map(formatDifference)

  it('absent means that nothing is selected', () => {
    assert.deepEqual(absent('up{job="node"}'), [])
    assert.deepEqual(absent('up{job="ksm"}'), ['surplus up{job="ksm"} 1; up{job="ksm"} is expected to be absent'])
    assert.equal(absent('up').length, 3)
  })

  it('present means that something is', () => {
    assert.deepEqual(present('up{job="dcgm"}'), [])
    assert.deepEqual(present('up{job="node"}'), ['missing up{job="node"}; the nearest has job="dcgm"'])
    assert.deepEqual(present('up{job="ksm",instance=~"a|b"}'), [
      'missing up{job="ksm",instance=~"a|b"}; the nearest has job="dcgm"',
    ])
  })

  it('a value holds for all that is selected', () => {
    assert.deepEqual(present('up{job="ksm"}', 1), [])
    assert.deepEqual(present('up{job="dcgm"}', 1), ['different up{instance="b",job="dcgm"}: expected 1, got 0'])
    assert.deepEqual(present('up{job="node"}', 1), ['missing up{job="node"} 1; the nearest has job="dcgm"'])
  })
})
