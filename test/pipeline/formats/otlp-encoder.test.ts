import assert from 'node:assert/strict'
import { endBatch, type Batch, type Source } from '../../../pipeline/model/batch.ts'
import { EMPTY_LABELS } from '../../../pipeline/model/labels.ts'
import { createLayout, layoutFromSeries, type Layout } from '../../../pipeline/model/layout.ts'
import type { AttributeValue } from '../../../pipeline/model/origin.ts'
import { scaleOf } from '../../../pipeline/model/scale.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'
import { ANY_NAME } from '../../../pipeline/formats/otlp-names.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'
import { otlpEncoding } from '../../support/otlp-encoding.ts'
import { attributesText } from '../../support/otlp-judge.ts'

const SOURCE = createSource('http://node-a:9400/metrics', { job: 'dcgm', instance: 'node-a:9400' })
const OF_SOURCE = '{service.instance.id=node-a:9400, service.name=dcgm}'

function batchOf(text: string, options: Partial<Batch> = {}): Batch {
  return { ...batchFromText(text, { source: SOURCE, timeMs: 1000 }), ...options }
}

describe('encoding OTLP metrics', () => {
  const shapes: readonly (readonly [what: string, text: string, expected: readonly string[]])[] = [
    ['a gauge', '# TYPE temp gauge\ntemp{zone="1"} 21.5', ['temp gauge {zone=1} 21.5 @1']],
    ['a counter, by its whole name', '# TYPE c_total counter\nc_total 7', ['c_total sum cumulative monotonic 7 @1']],
    ['what nobody describes', 'x 1', ['x gauge 1 @1']],
    [
      'a histogram from its parts',
      `# TYPE h histogram
      h_bucket{le="1",a="b"} 1
      h_bucket{le="+Inf",a="b"} 6
      h_bucket{le="5.5",a="b"} 3
      h_sum{a="b"} 12.5
      h_count{a="b"} 6`,
      ['h histogram cumulative {a=b} count=6 sum=12.5 [1 2 3] le [1 5.5] @1'],
    ],
    [
      'a histogram without a sum, or with nothing but its count',
      '# TYPE h histogram\nh_bucket{le="1",x="1"} 1\nh_count{x="1"} 3\nh_count{x="2"} 4',
      ['h histogram cumulative {x=1} count=3 [1 2] le [1] @1', 'h histogram cumulative {x=2} count=4 @1'],
    ],
    [
      'a histogram that was caught in the middle of a change',
      '# TYPE h histogram\nh_bucket{le="1"} 5\nh_bucket{le="2"} 4\nh_bucket{le="+Inf"} 4\nh_count 4',
      ['h histogram cumulative count=5 [5 0 0] le [1 2] @1'],
    ],
    [
      'a summary from its parts',
      '# TYPE s summary\ns{quantile="0.9"} 3\ns{quantile="0.5"} 2\ns_sum 60\ns_count 30',
      ['s summary count=30 sum=60 q0.5=2 q0.9=3 @1'],
    ],
    [
      'parts that do not make up a whole, as they are',
      '# TYPE h histogram\nh_bucket{le="1"} 5\nh_sum 4\n# TYPE s summary\ns{quantile="0.5"} 1',
      ['h_bucket gauge {le=1} 5 @1', 'h_sum gauge 4 @1', 's gauge {quantile=0.5} 1 @1'],
    ],
    [
      'what is no number, as it is',
      'a NaN\nb +Inf\nc -Inf',
      ['a gauge NaN @1', 'b gauge Infinity @1', 'c gauge -Infinity @1'],
    ],
    ['times that the source gave', 'a 1 2500\nb 2', ['a gauge 1 @2.5', 'b gauge 2 @1']],
  ]
  for (const encoding of ['proto', 'json'] as const) {
    for (const [what, text, expected] of shapes) {
      it(`writes ${what} (${encoding})`, () => {
        const lines = otlpEncoding({ encoding }).lines(batchOf(text))
        assert.deepEqual(lines, expected.map(line => `${OF_SOURCE} ${line}`).sort())
      })
    }

    it(`writes the types of OpenMetrics, and says what they were (${encoding})`, () => {
      const text = `# TYPE build info
        build_info{version="1"} 1
        # TYPE state stateset
        state{state="on"} 1
        # TYPE u unknown
        u 1
        # TYPE g gaugehistogram
        g_bucket{le="+Inf"} 2
        g_gcount 2
        # EOF
      `.replace(/^ +/gm, '')
      const otlp = otlpEncoding({ encoding })
      const lines = otlp.lines({ ...batchFromText(text, { dialect: 'openmetrics' }), source: SOURCE, timeMs: 1000 })
      assert.deepEqual(
        lines,
        [
          'build_info sum cumulative not monotonic {version=1} 1 @1',
          'g_bucket gauge {le=+Inf} 2 @1',
          'g_gcount gauge 2 @1',
          'state sum cumulative not monotonic {state=on} 1 @1',
          'u gauge 1 @1',
        ].map(line => `${OF_SOURCE} ${line}`),
      )
      const { metrics } = otlp.requests[0]!.request.resourceMetrics[0]!.scopeMetrics[0]!
      const types = metrics.map(({ name, metadata }) => `${name} ${attributesText(metadata)}`).sort()
      assert.deepEqual(types, [
        'build_info {prometheus.type=info}',
        'g_bucket {prometheus.type=gaugehistogram}',
        'g_gcount {prometheus.type=gaugehistogram}',
        'state {prometheus.type=stateset}',
        'u {prometheus.type=unknown}',
      ])
    })

    it(`writes help and unit, in the words of UCUM (${encoding})`, () => {
      const text = '# HELP t_seconds How long.\n# TYPE t_seconds gauge\n# UNIT t_seconds seconds\nt_seconds 1\n# EOF\n'
      const otlp = otlpEncoding({ encoding })
      otlp.lines(batchFromText(text, { dialect: 'openmetrics' }))
      const [metric] = otlp.requests[0]!.request.resourceMetrics[0]!.scopeMetrics[0]!.metrics
      assert.deepEqual(
        { name: metric!.name, description: metric!.description, unit: metric!.unit },
        { name: 't_seconds', description: 'How long.', unit: 's' },
      )
    })

    it(`says since when a counter counts, where its source does (${encoding})`, () => {
      const batch = batchOf('# TYPE c counter\nc_total{x="1"} 7\nc_total{x="2"} 8', {
        starts: Float64Array.of(500, NaN),
      })
      assert.deepEqual(otlpEncoding({ encoding }).lines(batch), [
        `${OF_SOURCE} c_total sum cumulative monotonic {x=1} 7 since 0.5 @1`,
        `${OF_SOURCE} c_total sum cumulative monotonic {x=2} 8 @1`,
      ])
    })

    it(`keeps resource, scope and types of what was pushed (${encoding})`, () => {
      const attributes = new Map<string, AttributeValue>([
        ['service.name', 'shop'],
        ['service.namespace', 'web'],
        ['service.instance.id', 'i-1'],
        ['cores', 8],
        ['big', 9007199254740993n],
        ['ratio', 0.5],
        ['on', true],
        ['nothing', null],
        ['empty', ''],
        ['list', ['a', 1]],
        ['map', { k: 'v' }],
        ['raw', Uint8Array.of(1, 2, 255)],
      ])
      const source: Source = {
        ...createSource('pushed', { job: 'web/shop', instance: 'i-1' }),
        origin: {
          resource: { attributes, schemaUrl: 'https://r' },
          scope: { name: 'lib', version: '1', attributes: new Map([['x', 'y']]), schemaUrl: 'https://s' },
        },
      }
      const text =
        'hits{job="web/shop",instance="i-1",otel_scope_name="lib",otel_scope_x="y","http.method"="GET",pod="p"} 3'
      const otlp = otlpEncoding({ encoding })
      const lines = otlp.lines({ ...batchFromText(text), source })
      assert.deepEqual(lines, [
        '{big=intValue:"9007199254740993", cores=intValue:"8", empty=, list=arrayValue:{"values":[{"stringValue":"a"},{"intValue":"1"}]}, ' +
          'map=kvlistValue:{"values":[{"key":"k","value":{"stringValue":"v"}}]}, nothing=none:"", on=boolValue:true, ratio=doubleValue:0.5, ' +
          'raw=bytesValue:"AQL/", service.instance.id=i-1, service.name=shop, service.namespace=web} hits gauge {http.method=GET, pod=p} 3',
      ])
      const [resource] = otlp.requests[0]!.request.resourceMetrics
      assert.equal(resource!.schemaUrl, 'https://r')
      const [{ scope, schemaUrl }] = resource!.scopeMetrics as [NonNullable<typeof resource>['scopeMetrics'][0]]
      assert.deepEqual(
        [scope.name, scope.version, attributesText(scope.attributes), schemaUrl],
        ['lib', '1', '{x=y}', 'https://s'],
      )
    })
  }

  it('writes a sum that may fall as what it came as', () => {
    const metric = metricFrom({ name: 'queue.length', type: 'gauge', unit: '1', isOtel: true, isUpDown: true })
    const layout = layoutFromSeries([{ metric, labels: EMPTY_LABELS }])
    const source = createSource('pushed', { job: 'j', instance: 'i' })
    const batch: Batch = { source, timeMs: 1000, outcome: 'ok', layout, values: Float64Array.of(-3) }
    assert.deepEqual(otlpEncoding({ encoding: 'proto' }).lines(batch), [
      '{service.instance.id=i, service.name=j} queue.length sum cumulative not monotonic -3 @1',
    ])
  })

  describe('resources', () => {
    it('are what a series is about', () => {
      const lines = otlpEncoding().lines(
        batchOf(`util{UUID="GPU-1",gpu="0",namespace="team",pod="p-0",container="main",job="dcgm",instance="a:1",fan="2"} 1
          util{workload_name="train",project="x"} 2
          up{job="dcgm",instance="a:1"} 1`),
      )
      assert.deepEqual(lines, [
        '{hw.gpu.index=0, hw.id=GPU-1, k8s.container.name=main, k8s.namespace.name=team, k8s.pod.name=p-0, service.instance.id=a:1, service.name=dcgm} util gauge {fan=2} 1 @1',
        '{k8s.workload.name=train, project.name=x, service.instance.id=node-a:9400, service.name=dcgm} util gauge 2 @1',
        '{service.instance.id=a:1, service.name=dcgm} up gauge 1 @1',
      ])
    })

    it('always say which service they are, and get what is configured for all', () => {
      const source = { ...createSource('roll-up'), component: 'roll_up' }
      const lines = otlpEncoding({
        resourceDefaults: new Map([
          ['location', 'eu'],
          ['k8s.pod.name', 'none'],
        ]),
      }).lines({ ...batchFromText('a{pod="p"} 1'), source })
      assert.deepEqual(lines, [
        '{k8s.pod.name=p, location=eu, service.instance.id=roll_up, service.name=gpucol} a gauge 1',
      ])
    })

    it('of several labels for one attribute take the first in the table; the others stay', () => {
      const lines = otlpEncoding().lines(batchOf('a{node="n",node_name="m"} 1'))
      assert.deepEqual(lines, [
        '{k8s.node.name=n, service.instance.id=node-a:9400, service.name=dcgm} a gauge {node_name=m} 1 @1',
      ])
    })

    it('have the scope that labels of OpenTelemetry say', () => {
      const otlp = otlpEncoding()
      otlp.lines(batchOf('a{otel_scope_name="lib",otel_scope_version="2",otel_scope_mood="good",x="y"} 1\nb 1'))
      const scopes = otlp.requests[0]!.request.resourceMetrics.flatMap(({ scopeMetrics }) =>
        scopeMetrics.map(({ scope }) => `${scope.name} ${scope.version ?? ''} ${attributesText(scope.attributes)}`),
      )
      assert.deepEqual(scopes.sort(), ['gpucol  ', 'lib 2 {mood=good}'])
    })
  })

  describe('series that end', () => {
    it('are sent once more, with the flag', () => {
      const otlp = otlpEncoding()
      const first = batchOf('# TYPE h histogram\nh_bucket{le="1"} 1\nh_count 1\na{x="1"} 1\na{x="2"} 2')
      otlp.lines(first)
      const second = batchFromText('a{x="2"} 3', { after: first })
      assert.deepEqual(otlp.lines(second), [
        `${OF_SOURCE} a gauge {x=1} ended @16`,
        `${OF_SOURCE} a gauge {x=2} 3 @16`,
        `${OF_SOURCE} h histogram cumulative [0 0] le [1] ended @16`,
      ])
      assert.deepEqual(otlp.lines(batchFromText('a{x="2"} 4', { after: second })), [`${OF_SOURCE} a gauge {x=2} 4 @31`])
    })

    it('say what belonged to them, where a receiver has a series for each part', () => {
      for (const encoding of ['proto', 'json'] as const) {
        const otlp = otlpEncoding({ encoding })
        otlp.lines(
          batchOf(`# TYPE h histogram
            h_bucket{le="1"} 1
            h_bucket{le="+Inf"} 2
            h_sum 3
            h_count 2
            # TYPE without histogram
            without_count 2
            # TYPE s summary
            s{quantile="0.5"} 1
            s{quantile="0.9"} NaN
            s_sum 3
            s_count 2`),
        )
        const lines = otlp.lines(endBatch(SOURCE, 2000, 'failed'))
        // Protobuf does not tell these from those that are not there.
        const told = lines.map(line => line.replace(' count=0', '').replace('summary sum=0', 'summary'))
        assert.deepEqual(told, [
          `${OF_SOURCE} h histogram cumulative sum=0 [0 0] le [1] ended @2`,
          `${OF_SOURCE} s summary q0.5=0 q0.9=0 ended @2`,
          `${OF_SOURCE} without histogram cumulative ended @2`,
        ])
      }
    })

    it('are all of a source that fails, once, and none when it is back', () => {
      const otlp = otlpEncoding()
      const first = batchOf('a 1\nb 2')
      otlp.lines(first)
      const ended = [`${OF_SOURCE} a gauge ended @2`, `${OF_SOURCE} b gauge ended @2`]
      assert.deepEqual(otlp.lines(endBatch(SOURCE, 2000, 'failed')), ended)
      assert.deepEqual(otlp.lines(endBatch(SOURCE, 3000, 'failed')), [])
      assert.deepEqual(otlp.lines(batchFromText('a 5', { after: first, timeMs: 4000 })), [`${OF_SOURCE} a gauge 5 @4`])
      assert.deepEqual(otlp.lines(endBatch(SOURCE, 5000, 'removed')), [`${OF_SOURCE} a gauge ended @5`])
    })

    it('end after their last sample, also where the clock of their target is ahead', () => {
      const otlp = otlpEncoding()
      const first = batchOf('a 1 90000\nb 2\n# TYPE h histogram\nh_bucket{le="1"} 1 90000\nh_count 1 90000')
      otlp.lines(first)
      assert.deepEqual(otlp.lines(endBatch(SOURCE, 2000, 'failed')), [
        `${OF_SOURCE} a gauge ended @90.001`,
        `${OF_SOURCE} b gauge ended @2`,
        `${OF_SOURCE} h histogram cumulative [0 0] le [1] ended @90.001`,
      ])
    })

    it('are not those that are described differently, or whose buckets changed', () => {
      const otlp = otlpEncoding()
      const first = batchOf('# TYPE a gauge\na 1\n# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 1')
      otlp.lines(first)
      const next = '# TYPE a counter\na 1\n# TYPE h histogram\nh_bucket{le="2"} 1\nh_count 1'
      assert.deepEqual(otlp.lines(batchFromText(next, { after: first })), [
        `${OF_SOURCE} a sum cumulative monotonic 1 @16`,
        `${OF_SOURCE} h histogram cumulative count=1 [1 0] le [2] @16`,
      ])
    })

    it('are not those that are absent', () => {
      const otlp = otlpEncoding()
      const first = batchOf('a 1\nb 2')
      otlp.lines(first)
      assert.deepEqual(otlp.lines({ ...first, absent: Uint32Array.of(0) }), [`${OF_SOURCE} b gauge 2 @1`])
    })
  })

  it('applies scales that are still pending', () => {
    const layout: Layout = createLayout({
      metrics: [metricFrom({ name: 'a', type: 'gauge' }), metricFrom({ name: 'b', type: 'gauge' })],
      scales: [scaleOf(1, 100), scaleOf(1)],
      labels: batchOf('x 1').layout.labels,
      metricOf: Uint32Array.of(0, 1),
      labelsOf: Uint32Array.of(0, 0),
    })
    const batch: Batch = { source: SOURCE, timeMs: 1000, outcome: 'ok', layout, values: Float64Array.of(29, 29) }
    assert.deepEqual(otlpEncoding().lines(batch), [`${OF_SOURCE} a gauge 0.29 @1`, `${OF_SOURCE} b gauge 29 @1`])
  })

  it('has sums of histograms that are no numbers, where it is not told otherwise', () => {
    for (const encoding of ['proto', 'json'] as const) {
      const lines = otlpEncoding({ encoding }).lines(batchOf('# TYPE h histogram\nh_count 1\nh_sum NaN'))
      assert.deepEqual(lines, [`${OF_SOURCE} h histogram cumulative count=1 sum=NaN @1`])
    }
  })

  it('leaves out what is no number where it is told so, and counts it', () => {
    const otlp = otlpEncoding({ dropNotANumber: true })
    const text = `a NaN\nb +Inf\nc 1
      # TYPE s summary\ns{quantile="0.5"} NaN\ns{quantile="0.9"} 2\ns_sum 3\ns_count 4
      # TYPE h histogram\nh_bucket{le="1"} 1\nh_count 1\nh_sum NaN`
    assert.deepEqual(otlp.lines(batchOf(text)), [
      `${OF_SOURCE} c gauge 1 @1`,
      `${OF_SOURCE} h histogram cumulative count=1 [1 0] le [1] @1`,
      `${OF_SOURCE} s summary count=4 sum=3 q0.9=2 @1`,
    ])
    assert.deepEqual([...otlp.leftOut], [['not a number', 2]])
  })

  it('leaves out a histogram whose counts are none, and counts it', () => {
    const otlp = otlpEncoding()
    otlp.lines(batchOf('# TYPE h histogram\nh_bucket{le="1"} NaN\nh_count{} 1\nh_count{x="1"} -1'))
    assert.deepEqual([otlp.requests.length, ...otlp.leftOut], [0, ['histogram', 2]])
  })

  it('makes fewer buckets of many, and drops summaries, where a destination wants that', () => {
    const otlp = otlpEncoding({ maxBuckets: 3, dropSummaries: true })
    const buckets = [1, 2, 3, 4, 5].map(bound => `h_bucket{le="${bound}"} ${bound}`).join('\n')
    const text = `# TYPE h histogram\n${buckets}\nh_bucket{le="+Inf"} 9\n# TYPE s summary\ns_sum 1\ns_count 2`
    assert.deepEqual(otlp.lines(batchOf(text)), [`${OF_SOURCE} h histogram cumulative count=9 [3 2 4] le [3 5] @1`])
    assert.deepEqual([...otlp.leftOut], [['summary', 1]])
  })

  it('makes names that a destination takes, and keeps those apart that become the same', () => {
    const names = {
      ...ANY_NAME,
      attributeCase: 'lower' as const,
      badAttributeCharacters: /[^a-z0-9_.]/gu,
      badMetricCharacters: /[^a-z_]/gu,
      attributeValueLength: 3,
      metricNameLength: 8,
    }
    const lines = otlpEncoding({ names }).lines(batchOf('some_DCGM_name{UUID="abcdef","err-code"="1",err_Code="2"} 1'))
    assert.deepEqual(lines, [
      '{hw.id=abc, service.instance.id=nod, service.name=dcg} some____ gauge {err_code=1, err_code_2=2} 1 @1',
    ])
  })

  it('leaves out points with too many attributes, and counts them', () => {
    const otlp = otlpEncoding({ maxAttributes: 4 })
    const lines = otlp.lines(batchOf('a{x="1",y="2"} 1\nb{x="1",y="2",z="3"} 1\nc{x="1",y="2",z="3"} 1'))
    assert.deepEqual(lines, [`${OF_SOURCE} a gauge {x=1, y=2} 1 @1`])
    assert.deepEqual([...otlp.leftOut], [['attributes', 2]])
  })

  for (const encoding of ['proto', 'json'] as const) {
    it(`cuts requests by points and by bytes, and loses nothing (${encoding})`, () => {
      const series = Array.from(
        { length: 500 },
        (_, i) => `m${i % 7}{UUID="GPU-${i % 11}",x="${'y'.repeat(i % 50)}${i}"} ${i}`,
      )
      const histograms = Array.from({ length: 50 }, (_, i) => `h_bucket{le="1",i="${i}"} 1\nh_count{i="${i}"} ${i + 2}`)
      const batch = batchOf(`${series.join('\n')}\n# TYPE h histogram\n${histograms.join('\n')}`)
      const whole = otlpEncoding({ encoding }).lines(batch)
      assert.equal(whole.length, 550)
      const byPoints = otlpEncoding({ encoding, maxPoints: 64 })
      assert.deepEqual(byPoints.lines(batch), whole)
      assert.deepEqual(
        byPoints.requests.map(({ points }) => points),
        [...Array(8).fill(64), 38],
      )
      const byBytes = otlpEncoding({ encoding, maxBytes: 5000 })
      assert.deepEqual(byBytes.lines(batch), whole)
      assert.ok(byBytes.requests.length > 5)
      for (const { bytes } of byBytes.requests) assert.ok(bytes <= 5000, `${bytes} bytes`)
    })
  }

  it('leaves out a point that alone is larger than a request may be', () => {
    const otlp = otlpEncoding({ maxBytes: 5000 })
    const lines = otlp.lines(batchOf(`a{x="${'y'.repeat(6000)}"} 1\nb 2`))
    assert.deepEqual(lines, [`${OF_SOURCE} b gauge 2 @1`])
    assert.deepEqual([...otlp.leftOut], [['size', 1]])
  })

  it('writes texts of any length', () => {
    for (const length of [1, 31, 32, 33, 127, 128, 16_367, 16_383, 16_384, 40_000]) {
      const value = 'é'.repeat(length)
      const [line] = otlpEncoding().lines(batchOf(`a{x="${value}"} 1`))
      assert.equal(line, `${OF_SOURCE} a gauge {x=${value}} 1 @1`)
    }
  })

  it('never has a series twice in a request, so that nothing arrives out of order', () => {
    const otlp = otlpEncoding()
    const first = batchOf('a 1')
    otlp.add(first)
    otlp.add({ ...first, timeMs: 2000 })
    otlp.flush()
    assert.deepEqual(
      otlp.requests.map(({ points }) => points),
      [1, 1],
    )
  })

  it('does not say again what a target stamped itself and says again, nor what is older', () => {
    const otlp = otlpEncoding()
    const histogram = (time: number) =>
      `# TYPE h histogram\nh_bucket{le="1"} 1 ${time}\nh_bucket{le="+Inf"} 2 ${time}\nh_count 2 ${time}`
    const first = batchOf(`a 1 500\nb 2\n${histogram(500)}`)
    assert.equal(otlp.lines(first).length, 3)
    const second = batchFromText(`a 1 500\nb 2\n${histogram(500)}`, { after: first })
    assert.deepEqual(otlp.lines(second), [`${OF_SOURCE} b gauge 2 @16`])
    assert.equal(otlp.leftOut.get('repeated'), 4)
    const third = batchFromText(`a 3 30000\nb 2 400\n${histogram(20_000)}\nc 1 20000`, { after: second })
    assert.deepEqual(otlp.lines(third), [
      `${OF_SOURCE} a gauge 3 @30`,
      `${OF_SOURCE} c gauge 1 @20`,
      `${OF_SOURCE} h histogram cumulative count=2 [1 1] le [1] @20`,
    ])
    const fourth = batchFromText('b 5 40000', { after: third })
    assert.equal(otlp.lines(fourth).filter(line => line.includes('ended')).length, 3)
    const fifth = batchFromText('a 3 55000\nb 5 60000', { after: fourth })
    assert.deepEqual(otlp.lines(fifth), [`${OF_SOURCE} a gauge 3 @55`, `${OF_SOURCE} b gauge 5 @60`])
    // All of them end then, so that a time before is late.
    otlp.lines(endBatch(SOURCE, 70_000, 'failed'))
    assert.deepEqual(otlp.lines(batchFromText('a 3 69000\nb 5 71000', { after: fifth })), [
      `${OF_SOURCE} b gauge 5 @71`,
    ])
  })

  it('does label work once for a layout, and for what is new in the next', () => {
    let work = 0
    class CountedTable extends Map<string, string> {
      override [Symbol.iterator]() {
        work++
        return super[Symbol.iterator]()
      }
    }
    const otlp = otlpEncoding({ resourceTable: new CountedTable([['pod', 'k8s.pod.name']]) })
    const first = batchOf('a{pod="p",x="1"} 1\na{pod="q",x="2"} 1')
    otlp.lines(first, first, first)
    assert.equal(work, 1)
  })
})
