import assert from 'node:assert/strict'
import { endBatch, type Batch } from '../../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom } from '../../../pipeline/model/labels.ts'
import { createLayout } from '../../../pipeline/model/layout.ts'
import { scaleOf } from '../../../pipeline/model/scale.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { createPage } from '../../../pipeline/formats/render-chunks.ts'
import { Renderer } from '../../../pipeline/formats/render-snapshot.ts'
import { renderPieces, renderText, type RenderOptions } from '../../../pipeline/formats/render-text.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'

/** Compares without regard to indentation. */
function check(batches: readonly Batch[], expected: string, options?: RenderOptions): void {
  assert.equal(renderText(batches, options), expected.replace(/^ +/gm, ''))
}

function other(name: string): { source: Batch['source'] } {
  return { source: createSource(name) }
}

describe('Prometheus text', () => {
  it('has families in the order of their names, each described once, whichever source brings them', () => {
    const a = batchFromText('# HELP b about b\n# TYPE b gauge\nb{n="1"} 1\n# TYPE a_total counter\na_total{n="1"} 2\n')
    const b = batchFromText('# HELP b about b\n# TYPE b gauge\nb{n="2"} 3\n', other('b'))
    check(
      [a, b],
      `# TYPE a_total counter
       a_total{n="1"} 2
       # HELP b about b
       # TYPE b gauge
       b{n="1"} 1
       b{n="2"} 3
      `,
    )
  })

  it('shows increases as gauges, because a counter that falls would have begun anew', () => {
    const metric = metricFrom({ name: 'a_total', type: 'counter', isDelta: true })
    const part = metricFrom({ name: 'h_sum', family: 'h', type: 'histogram', isDelta: true })
    const layout = createLayout({
      metrics: [metric, part],
      labels: [EMPTY_LABELS],
      metricOf: Uint32Array.of(0, 1),
      labelsOf: Uint32Array.of(0, 0),
    })
    const batch: Batch = { ...batchFromText(''), layout, values: Float64Array.of(3, 4) }
    check(
      [batch],
      `# TYPE a_total gauge
       a_total 3
       # TYPE h_sum gauge
       h_sum 4
      `,
    )
  })

  it('has nothing where there is nothing', () => {
    check([], '')
    check([batchFromText('')], '')
    check([], '# EOF\n', { syntax: 'openmetrics' })
  })

  it('shows of each source what it said last', () => {
    const first = batchFromText('a 1\nb 1\n')
    check([first, batchFromText('a 2\n', { after: first })], '# TYPE a untyped\na 2\n')
    check([first, endBatch(first.source, 1, 'failed')], '')
    check([first, endBatch(first.source, 1, 'removed')], '')
  })

  it('leaves out absent columns, and the header of a family that has no other', () => {
    const batch = { ...batchFromText('a{n="1"} 1\na{n="2"} 2\nb 3\n'), absent: Uint32Array.of(0, 2) }
    check([batch], '# TYPE a untyped\na{n="2"} 2\n')
  })

  it('has true values where a scale is pending', () => {
    const metrics = ['percent', 'plain'].map(name => metricFrom({ name, type: 'gauge' }))
    const layout = createLayout({
      metrics,
      scales: [scaleOf(1, 100), scaleOf(1)],
      labels: [EMPTY_LABELS],
      metricOf: Uint32Array.of(0, 1),
      labelsOf: Uint32Array.of(0, 0),
    })
    const batch: Batch = { ...batchFromText(''), layout, values: Float64Array.of(29, 29) }
    check([batch], '# TYPE percent gauge\npercent 0.29\n# TYPE plain gauge\nplain 29\n')
  })

  it('escapes help texts and label values', () => {
    const metric = metricFrom({ name: 'a', type: 'gauge', help: 'one\\two\n"three"' })
    const layout = createLayout({
      metrics: [metric],
      labels: [labelsFrom([['l', 'x\\y\n"z" ü 😱']])],
      metricOf: Uint32Array.of(0),
      labelsOf: Uint32Array.of(0),
    })
    const batch: Batch = { ...batchFromText(''), layout, values: Float64Array.of(1) }
    const line = 'a{l="x\\\\y\\n\\"z\\" ü 😱"} 1\n'
    check([batch], `# HELP a one\\\\two\\n"three"\n# TYPE a gauge\n${line}`)
    check([batch], `# HELP a one\\\\two\\n\\"three\\"\n# TYPE a gauge\n${line}# EOF\n`, { syntax: 'openmetrics' })
  })

  it('puts the parts of a distribution together: buckets by their bound, then sum and count', () => {
    const batch = batchFromText(`# TYPE h histogram
      h_count{p="x"} 3
      h_count{p="y"} 1
      h_bucket{le="+Inf",p="x"} 3
      h_bucket{le="10",p="y"} 1
      h_bucket{le="10",p="x"} 2
      h_bucket{le="2.5",p="x"} 1
      h_sum{p="x"} 20
      # TYPE s summary
      s_count 4
      s{quantile="0.99"} 9
      s{quantile="0.5"} 5
    `)
    check(
      [batch],
      `# TYPE h histogram
       h_bucket{le="2.5",p="x"} 1
       h_bucket{le="10",p="x"} 2
       h_bucket{le="+Inf",p="x"} 3
       h_sum{p="x"} 20
       h_count{p="x"} 3
       h_bucket{le="10",p="y"} 1
       h_count{p="y"} 1
       # TYPE s summary
       s{quantile="0.5"} 5
       s{quantile="0.99"} 9
       s_count 4
      `,
    )
  })

  it('has timestamps when asked: the batch’s, or the sample’s own', () => {
    const batch = batchFromText('a{n="1"} 1\na{n="2"} 2 1500\n', { timeMs: 1_700_000_000_123 })
    check([batch], '# TYPE a untyped\na{n="1"} 1\na{n="2"} 2\n')
    check([batch], '# TYPE a untyped\na{n="1"} 1 1700000000123\na{n="2"} 2 1500\n', { timestamps: true })
    check([batch], '# TYPE a unknown\na{n="1"} 1 1700000000.123\na{n="2"} 2 1.5\n# EOF\n', {
      timestamps: true,
      syntax: 'openmetrics',
    })
  })

  it('adds a namespace to every name, and labels to every series that does not have them', () => {
    const batch = batchFromText('# TYPE h histogram\nh_sum{a="own"} 1\nh_count 2\n')
    const addedLabels = labelsFrom([
      ['a', 'added'],
      ['z', '1'],
    ])
    check(
      [batch],
      `# TYPE our_h histogram
       our_h_sum{a="own",z="1"} 1
       our_h_count{a="added",z="1"} 2
      `,
      { namespace: 'our', addedLabels },
    )
  })

  it('writes a line that is longer than a page', () => {
    const long = 'x'.repeat(700_000)
    const text = `# HELP a ${long}\n# TYPE a gauge\na{l="1"} 1\na{l="${long}"} 2\na{l="3"} 3\n`
    check([batchFromText(text)], text)
  })

  it('is the same however long a page is', () => {
    const a = batchFromText(
      `# HELP a ${'help '.repeat(20)}\na{l="1"} 1\na{l="${'y'.repeat(90)}"} 2\n# HELP b x\nb 3\nc 1\n`,
    )
    const batches = [{ ...a, absent: Uint32Array.of(2) }, batchFromText('b{n="2"} 1\nc{n="2"} 2\n', other('b'))]
    for (const syntax of ['text', 'openmetrics'] as const) {
      const snapshot = finishNow(new Renderer().take(batches, { syntax }))
      const expected = renderText(batches, { syntax })
      for (let size = 60; size < 450; size += 3) {
        const pieces = [...renderPieces(snapshot, () => createPage(size))]
        assert.equal(Buffer.concat(pieces).toString(), expected, `with pages of ${size} bytes`)
      }
    }
  })
})

describe('names that the older formats cannot carry', () => {
  const text = '# TYPE "gpu.load" gauge\n{"gpu.load","k8s.pod"="p"} 1\n{"gpu.load"} 2\n'
  const cases: readonly [RenderOptions['escaping'] & string, string][] = [
    ['underscores', '# TYPE gpu_load gauge\ngpu_load{k8s_pod="p"} 1\ngpu_load 2\n'],
    ['allow-utf-8', '# TYPE "gpu.load" gauge\n{"gpu.load","k8s.pod"="p"} 1\n{"gpu.load"} 2\n'],
    ['dots', '# TYPE gpu_dot_load gauge\ngpu_dot_load{k8s_dot_pod="p"} 1\ngpu_dot_load 2\n'],
    ['values', '# TYPE U__gpu_2e_load gauge\nU__gpu_2e_load{U__k8s_2e_pod="p"} 1\nU__gpu_2e_load 2\n'],
  ]
  for (const [escaping, expected] of cases) {
    it(`are written with ${escaping}`, () => check([batchFromText(text)], expected, { escaping }))
  }

  it('keep both values where two labels get one name', () => {
    check([batchFromText('a{"k.l"="1",k_l="2"} 1\n')], '# TYPE a untyped\na{k_l="1;2"} 1\n')
  })

  it('give one family, and every series once, where two metrics get one name', () => {
    const batch = batchFromText(
      '# TYPE "a.b" gauge\n{"a.b"} 1\n{"a.b",n="1"} 2\n# TYPE a_b gauge\na_b 3\na_b{n="2"} 4\n',
    )
    check([batch], '# TYPE a_b gauge\na_b 1\na_b{n="1"} 2\na_b{n="2"} 4\n')
  })
})

describe('OpenMetrics', () => {
  const om: RenderOptions = { syntax: 'openmetrics' }

  it('calls the family of a counter by its name without _total', () => {
    check([batchFromText('# TYPE a_total counter\na_total 1\n')], '# TYPE a counter\na_total 1\n# EOF\n', om)
  })

  it('has a counter whose name lacks _total as unknown, with its name', () => {
    check([batchFromText('# TYPE E counter\nE 1\n')], '# TYPE E unknown\nE 1\n# EOF\n', om)
  })

  it('has a counter under its own name where another family has the shorter one', () => {
    const batch = batchFromText('# TYPE a_total counter\na_total 1\n# TYPE a gauge\na 2\n')
    check([batch], '# TYPE a gauge\na 2\n# TYPE a_total unknown\na_total 1\n# EOF\n', om)
  })

  it('has a unit where the name ends with it', () => {
    const text = `# TYPE a_seconds gauge\n# UNIT a_seconds seconds\na_seconds 1\n# TYPE b gauge\n# UNIT b bytes\nb 1\n# EOF\n`
    const batch = batchFromText(text, { dialect: 'openmetrics' })
    check([batch], text.replace('# UNIT b bytes\n', ''), om)
  })

  it('has the types that text lacks, and text has the nearest', () => {
    const text = `# TYPE g gaugehistogram
g_bucket{le="+Inf"} 1
g_gsum 2
g_gcount 1
# TYPE i info
i_info{v="1"} 1
# TYPE s stateset
s{s="on"} 1
# TYPE u unknown
u 1
# EOF
`
    const batch = batchFromText(text, { dialect: 'openmetrics' })
    check([batch], text, om)
    check(
      [batch],
      `# TYPE g histogram
       g_bucket{le="+Inf"} 1
       # TYPE g_gcount gauge
       g_gcount 1
       # TYPE g_gsum gauge
       g_gsum 2
       # TYPE i_info gauge
       i_info{v="1"} 1
       # TYPE s gauge
       s{s="on"} 1
       # TYPE u untyped
       u 1
      `,
    )
  })
})

describe('sources that do not agree', () => {
  it('are believed in the order in which they came', () => {
    const a = batchFromText('# HELP a first\n# TYPE a gauge\na{n="1"} 1\n')
    const b = batchFromText('# HELP a second\n# TYPE a counter\na{n="2"} 2\n', other('b'))
    check([a, b], '# HELP a first\n# TYPE a gauge\na{n="1"} 1\na{n="2"} 2\n')
  })

  it('may say what an earlier one left open', () => {
    const a = batchFromText('# TYPE a gauge\na{n="1"} 1\n')
    const b = batchFromText('# HELP a second\n# TYPE a gauge\na{n="2"} 2\n', other('b'))
    check([a, b], '# HELP a second\n# TYPE a gauge\na{n="1"} 1\na{n="2"} 2\n')
  })

  it('and have the same series are believed by the time of their batch', () => {
    const a = batchFromText('a{n="1"} 1\na{n="2"} 1\n', { timeMs: 1000 })
    const b = batchFromText('a{n="3"} 2\na{n="2"} 2\n', { ...other('b'), timeMs: 2000 })
    const c = batchFromText('a{n="2"} 3\n', { ...other('c'), timeMs: 1500 })
    check([a, b, c], '# TYPE a untyped\na{n="1"} 1\na{n="3"} 2\na{n="2"} 2\n')
    check([a, { ...b, timeMs: 1000 }], '# TYPE a untyped\na{n="1"} 1\na{n="2"} 1\na{n="3"} 2\n')
    check([a, { ...b, absent: Uint32Array.of(1) }], '# TYPE a untyped\na{n="1"} 1\na{n="2"} 1\na{n="3"} 2\n')
    check([a, b, endBatch(b.source, 3000, 'failed')], '# TYPE a untyped\na{n="1"} 1\na{n="2"} 1\n')
  })

  it('and have the same series once labels are added are believed by the time of their batch', () => {
    const a = batchFromText('a{n="1"} 1\n', { timeMs: 1000 })
    const b = batchFromText('a{n="1",z="1"} 2\n', { ...other('b'), timeMs: 2000 })
    check([a, b], '# TYPE a untyped\na{n="1",z="1"} 2\n', { addedLabels: labelsFrom([['z', '1']]) })
  })
})
