import assert from 'node:assert/strict'
import { createTextReader, type Exposition } from '../../../pipeline/formats/prometheus-text.ts'
import { metricAt } from '../../../pipeline/model/layout.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { textFromBatch } from '../../support/text-from-batch.ts'

describe('reading OpenMetrics', () => {
  function read(text: string, reader = createTextReader()): Exposition {
    reader.begin('openmetrics')
    reader.push(Buffer.from(text))
    return reader.finish()
  }
  function textOf(exposition: Exposition): string {
    return textFromBatch({ source: createSource(), timeMs: 0, outcome: 'ok', ...exposition })
  }

  it('takes timestamps in seconds', () => {
    assert.equal(textOf(read('a 1 1520879607.789\nb 2 0\n# EOF\n')), 'a 1 1520879607789\nb 2 0\n')
  })

  it('knows the unit, and the family of each suffix', () => {
    const { layout } = read(`# TYPE jobs_seconds counter
# UNIT jobs_seconds seconds
# HELP jobs_seconds quoted \\"text\\"
jobs_seconds_total 1
# TYPE build info
build_info{version="1"} 1
# EOF
`)
    const { name, family, type, unit, help } = metricAt(layout, 0)
    assert.deepEqual(
      [name, family, type, unit, help],
      ['jobs_seconds_total', 'jobs_seconds', 'counter', 'seconds', 'quoted "text"'],
    )
    assert.equal(metricAt(layout, 1).family, 'build')
  })

  it('makes _created the start of what has the same labels', () => {
    const reader = createTextReader()
    const text = `# TYPE a counter
a_total{x="1"} 5
a_created{x="1"} 1700000000.5
a_total{x="2"} 6
# TYPE h histogram
h_bucket{le="1",x="1"} 1
h_bucket{le="+Inf",x="1"} 2
h_count{x="1"} 2
h_sum{x="1"} 3
h_created{x="1"} 1600000000
# TYPE g gauge
g_created 3
# EOF
`
    const { layout, starts, values } = read(text, reader)
    const shown = Array.from(starts!, (start, column) => `${metricAt(layout, column).name} ${values[column]} ${start}`)
    assert.deepEqual(shown, [
      'a_total 5 1700000000500',
      'a_total 6 NaN',
      'h_bucket 1 1600000000000',
      'h_bucket 2 1600000000000',
      'h_count 2 1600000000000',
      'h_sum 3 1600000000000',
      'g_created 3 NaN',
    ])
    const again = read(
      text.replace('1700000000.5', '1700000009').replace('a_total{x="1"} 5', 'a_total{x="1"} 1'),
      reader,
    )
    assert.equal(again.layout, layout)
    assert.equal(again.values[0], 1)
    assert.equal(again.starts![0], 1_700_000_009_000)
  })

  it('counts exemplars, and takes the sample of a bad one', () => {
    const exposition = read(`# TYPE a counter
a_total{x="1"} 1 # {trace="}"} 0.5 1700000000
a_total{x="2"} 2 1700000000 # {} 0.5
a_total{x="3"} 3 # {trace="x"} broken
# EOF
`)
    assert.equal(textOf(exposition), 'a_total{x="1"} 1\na_total{x="2"} 2 1700000000000\na_total{x="3"} 3\n')
    assert.equal(exposition.exemplars, 2)
    assert.equal(exposition.badExemplars, 1)
    assert.equal(exposition.badLines, 0)
  })

  it('says whether the end is missing, and takes nothing after it', () => {
    const reader = createTextReader()
    assert.equal(read('a 1\n', reader).endMissing, true)
    assert.equal(read('a 1\n# EOF\n', reader).endMissing, false)
    assert.equal(read('a 1\n# EOF', reader).endMissing, false)
    assert.equal(read('a 1\n', reader).endMissing, true)
    const late = read('a 1\n# EOF\nb 2\n\n', reader)
    assert.equal(textOf(late), 'a 1\n')
    assert.equal(late.badLines, 2)
    assert.match(late.problem!, /line 3: there is something after # EOF/)
  })

  it('starts anew when a source changes its format', () => {
    const reader = createTextReader()
    assert.equal(textOf(read('a 1 2\n# EOF\n', reader)), 'a 1 2000\n')
    reader.begin('text')
    reader.push(Buffer.from('a 1 2\n'))
    assert.equal(textOf(reader.finish()), 'a 1 2\n')
  })

  describe('to the letter', () => {
    function readStrictly(text: string): Exposition {
      return read(text, createTextReader({ strict: true }))
    }

    it('accepts what is right', () => {
      const exposition = readStrictly(`# TYPE a counter
# HELP a help
a_total{x="1"} 1 # {trace="y"} 0.5
# TYPE h histogram
h_bucket{le="1.0"} 1
h_bucket{le="+Inf"} 2
h_count 2
h_sum 3
# TYPE s stateset
s{s="on"} 1
s{s="off"} 0
# EOF
`)
      assert.equal(exposition.samples, 7)
    })

    const mistakes: [text: string, problem: RegExp][] = [
      ['a 1\n', /# EOF is missing/],
      ['a 1\n\n# EOF\n', /line 2: a blank line/],
      ['# EOF\na 1\n', /line 2: there is something after # EOF/],
      ['# hello\n# EOF\n', /line 1: neither HELP/],
      ['a  1\n# EOF\n', /line 1: not a sample/],
      ['a{x="1",} 1\n# EOF\n', /not a sample/],
      ['a 1 NaN\n# EOF\n', /timestamp/],
      ['# TYPE a counter\na_total -1\n# EOF\n', /not negative/],
      ['# TYPE a counter\na_total NaN\n# EOF\n', /a counter is a number/],
      ['# TYPE a counter\n# TYPE a counter\n# EOF\n', /more than one TYPE/],
      ['a 1\n# HELP a x\n# EOF\n', /HELP comes after samples/],
      ['a 1\nb 1\na{x="1"} 1\n# EOF\n', /"a" belongs to two families/],
      ['# TYPE a untyped\n# EOF\n', /"untyped" is not a metric type/],
      ['# UNIT a seconds\n# EOF\n', /does not end in its unit/],
      ['# TYPE a gauge\na 1 # {} 1\n# EOF\n', /only counters and buckets have exemplars/],
      ['# TYPE h histogram\nh_bucket{le="1"} 1\n# EOF\n', /needs a bucket with le="\+Inf"/],
      ['# TYPE h histogram\nh_bucket{le="2"} 1\nh_bucket{le="1"} 1\n# EOF\n', /out of order/],
    ]
    for (const [text, problem] of mistakes) {
      it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => readStrictly(text), problem))
    }

    it('reads the Prometheus text format as always', () => {
      const reader = createTextReader({ strict: true })
      reader.begin('text')
      reader.push(Buffer.from('\n# hello\na  1\nbad\n'))
      assert.equal(reader.finish().badLines, 1)
    })
  })
})
