import assert from 'node:assert/strict'
import { RefusedError } from '../../../pipeline/component.ts'
import { metricAt } from '../../../pipeline/model/layout.ts'
import { at, gauge, histogram, pushed, resource, sum, type Data } from '../../support/pushed.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'
import { encodeRequest } from '../../support/otlp-judge.ts'

const STALE = { flags: 1 }

describe('points that are pushed', () => {
  it('have the labels that Prometheus makes of OTLP', () => {
    const { push, texts, batches } = pushed()
    push(
      resource(
        [gauge('gpu.temperature', at(10, 61, { 'gpu.index': 3, ok: true, ratio: 0.5 }))],
        { 'service.name': 'agent', 'service.namespace': 'gpu', 'service.instance.id': 'node-a', 'host.name': 'a' },
        { name: 'dcgm', version: '2', attributes: [{ key: 'x.y', value: { stringValue: 'z' } }] },
      ),
    )
    const { source } = batches[0]!
    assert.deepEqual(texts(), [
      '{"gpu.temperature","gpu.index"="3",instance="node-a",job="gpu/agent",ok="true",otel_scope_name="dcgm",otel_scope_version="2","otel_scope_x.y"="z",ratio="0.5"} 61 10000\n',
    ])
    assert.deepEqual([...source.labels.values], ['node-a', 'gpu/agent'])
    assert.equal(source.origin?.resource.attributes.get('host.name'), 'a')
    assert.equal(source.origin?.scope.name, 'dcgm')
    assert.equal(source.name, 'gpu/agent node-a, scope dcgm')
  })

  it('have values of attributes as text: JSON for lists and maps, base64 for bytes, nothing for what is empty', () => {
    const { push, texts } = pushed()
    const list = { arrayValue: { values: [{ stringValue: '<a>' }, { intValue: 1 }, {}] } }
    const map = {
      kvlistValue: {
        values: [
          { key: 'b', value: { doubleValue: 1.5 } },
          { key: 'a', value: { bytesValue: 'AQID' } },
        ],
      },
    }
    push(
      resource([
        gauge(
          'g',
          at(1, 1, { list, map, bytes: { bytesValue: 'AQID' }, none: {}, big: { intValue: '9223372036854775807' } }),
        ),
      ]),
    )
    assert.deepEqual(texts(), [
      'g{big="9223372036854775807",bytes="AQID",list="[\\"\\\\u003ca\\\\u003e\\",1,null]",map="{\\"a\\":\\"AQID\\",\\"b\\":1.5}"} 1 1000\n',
    ])
  })

  it('of one name as label and as attribute have the label of the resource and the scope', () => {
    const { push, texts } = pushed()
    push(
      resource(
        [gauge('g', at(1, 1, { job: 'mine', otel_scope_name: 'mine', __name__: 'x' }))],
        { 'service.name': 's' },
        { name: 'n' },
      ),
    )
    assert.deepEqual(texts(), ['g{job="s",otel_scope_name="n"} 1 1000\n'])
  })

  it('are metrics of OpenTelemetry with type, unit and help', () => {
    const { push, batches } = pushed()
    push(
      resource([
        { ...sum('c', 'cumulative', at(1, 1)), unit: 'By', description: 'about' },
        { name: 'updown', sum: { aggregationTemporality: 2, dataPoints: [at(1, 1)] } },
        { ...gauge('u', at(1, 1)), metadata: [{ key: 'prometheus.type', value: { stringValue: 'unknown' } }] },
        histogram('h', 'cumulative', at(1, { count: 1, sum: 2, bucketCounts: [1], explicitBounds: [] })),
      ]),
    )
    const { layout } = batches[0]!
    const described = layout.metrics.map(({ name, family, type, isOtel }) => `${name} ${family} ${type} ${isOtel}`)
    assert.deepEqual(described, [
      'c c counter true',
      'updown updown gauge true',
      'u u unknown true',
      'h_count h histogram true',
      'h_bucket h histogram true',
      'h_sum h histogram true',
    ])
    assert.deepEqual(
      layout.metrics.filter(({ isUpDown }) => isUpDown === true).map(({ name }) => name),
      ['updown'],
    )
    assert.equal(metricAt(layout, 0).unit, 'By')
    assert.equal(metricAt(layout, 0).help, 'about')
  })

  it('may be sums of histograms that are no numbers', () => {
    const { push, texts } = pushed()
    push(
      resource([
        histogram('h', 'cumulative', at(1, { count: 1, sum: 'NaN', bucketCounts: [1], explicitBounds: [] })),
        histogram('without', 'cumulative', at(1, { count: 1, bucketCounts: [1], explicitBounds: [] })),
      ]),
    )
    const [text] = texts()
    assert.match(text!, /^h_sum NaN 1000$/m)
    assert.doesNotMatch(text!, /without_sum/)
  })

  it('that came before keep their columns and are absent', () => {
    const { push, texts, batches } = pushed()
    push(resource([gauge('a', at(1, 1)), gauge('b', at(1, 2))]))
    push(resource([gauge('b', at(2, 3))]))
    push(resource([gauge('c', at(3, 4))]))
    const [first, second, third] = batches
    assert.equal(second!.layout, first!.layout)
    assert.deepEqual([...second!.absent!], [0])
    assert.deepEqual(third!.layout.keptFrom, { id: first!.layout.id, runs: Uint32Array.of(0, 0, 2) })
    assert.deepEqual([...third!.absent!], [0, 1])
    assert.deepEqual(texts(), ['a 1 1000\nb 2 1000\n', 'b 3 2000\n', 'c 4 3000\n'])
  })

  it('are the same series whatever the order of attributes, and of one source whatever the order of its', () => {
    const { push, batches, sources } = pushed()
    push(resource([gauge('g', at(1, 1, { a: 'x', b: 'y' }))], { r: '1', s: '2' }))
    push(resource([gauge('g', at(2, 1, { b: 'y', a: 'x' }))], { s: '2', r: '1' }))
    assert.equal(batches[0]!.layout, batches[1]!.layout)
    assert.equal(batches[0]!.source, batches[1]!.source)
    assert.equal(sources.size, 1)
  })

  it('of several moments in one request are handed on one after the other', () => {
    const { push, texts } = pushed()
    push(resource([gauge('g', at(1, 10), at(2, 20), at(3, 30)), gauge('h', at(3, 1))]))
    assert.deepEqual(texts(), ['g 10 1000\nh 1 3000\n', 'g 20 2000\n', 'g 30 3000\n'])
  })

  it('that are late never replace newer ones, and are counted', () => {
    const { push, texts } = pushed()
    push(resource([gauge('g', at(5, 1))]))
    assert.equal(push(resource([gauge('g', at(4, 9)), gauge('h', at(4, 2))])).late, 1)
    assert.deepEqual(texts(), ['g 1 5000\n', 'h 2 4000\n'])
  })

  it('without a time are of now', () => {
    const { push, texts } = pushed()
    push(resource([gauge('g', { asInt: '1' })]))
    assert.deepEqual(texts(), ['g 1\n'])
  })

  it('with the flag "no recorded value" end their series, and the source with its last', () => {
    const { push, texts, batches, sources } = pushed()
    push(resource([gauge('a', at(1, 1)), gauge('b', at(1, 2))]))
    push(resource([gauge('a', at(2, STALE)), gauge('b', at(2, 3))]))
    assert.deepEqual(
      batches.at(-1)!.layout.metrics.map(({ name }) => name),
      ['b'],
    )
    assert.deepEqual(texts(), ['a 1 1000\nb 2 1000\n', 'b 3 2000\n', ''])
    push(resource([gauge('b', at(3, STALE)), gauge('never', at(3, STALE))]))
    assert.deepEqual(texts(), ['# removed\n'])
    assert.equal(sources.size, 0)
    assert.equal(sources.seriesCount, 0)
    push(resource([gauge('a', at(4, 7))]))
    assert.deepEqual(texts(), ['a 7 4000\n'])
  })

  it('of which nothing comes end after a while, one by one', async () => {
    const { push, texts, clock, pushes, sources } = pushed()
    push(resource([gauge('a', at(1, 1)), gauge('b', at(1, 2))]))
    await clock.advance(60_000)
    push(resource([gauge('b', at(2, 3))]))
    texts()
    pushes.expire(100_000)
    assert.deepEqual(texts(), [])
    await clock.advance(50_000)
    pushes.expire(100_000)
    assert.deepEqual(texts(), [''])
    assert.equal(sources.seriesCount, 1)
    push(resource([gauge('b', at(3, 4))]))
    assert.deepEqual(texts(), ['b 4 3000\n'])
    await clock.advance(100_000)
    pushes.expire(100_000)
    assert.deepEqual(texts(), ['# removed\n'])
    assert.equal(sources.size, 0)
  })

  const rejected: [string, Data[], string][] = [
    ['no value', [gauge('g', { timeUnixNano: '1' })], 'metric "g" has no value'],
    ['no name', [gauge('', at(1, 1))], 'a metric has no name'],
    ['no temporality', [{ name: 's', sum: { dataPoints: [at(1, 1)] } }], 'metric "s" is neither cumulative nor delta'],
    [
      'a delta that is no number',
      [sum('s', 'delta', at(1, { asDouble: 'NaN' }))],
      'metric "s" is a delta and no finite number',
    ],
    ['a negative delta', [sum('s', 'delta', at(1, -1))], 'metric "s" can only grow and came with a negative delta'],
    [
      'buckets without bounds',
      [histogram('h', 'cumulative', at(1, { count: 3, bucketCounts: [1, 2], explicitBounds: [] }))],
      'metric "h" has 2 buckets for 0 bounds',
    ],
    [
      'bounds that do not ascend',
      [histogram('h', 'cumulative', at(1, { count: 3, bucketCounts: [1, 1, 1], explicitBounds: [2, 1] }))],
      'metric "h" has bounds that do not ascend',
    ],
    [
      'more in the buckets than there is',
      [histogram('h', 'cumulative', at(1, { count: 1, bucketCounts: [3, 0], explicitBounds: [2] }))],
      'metric "h" has buckets that count 3 of 1',
    ],
    [
      'another type of the same name',
      [gauge('x', at(1, 1)), sum('x', 'cumulative', at(1, 1))],
      'metric "x" has series that a metric of another type has, too',
    ],
    [
      'too many attributes',
      [gauge('g', at(1, 1, Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`a${i}`, 'x']))))],
      'a point has more than 20 attributes',
    ],
  ]
  for (const [what, metrics, message] of rejected) {
    it(`are rejected alone where they have ${what}`, () => {
      const { push, texts } = pushed()
      const taken = push(resource([...metrics, gauge('good', at(1, 1))]))
      assert.equal(taken.rejected, 1)
      assert.equal(taken.message, message)
      assert.ok(texts().some(text => text.includes('good 1 1000\n')))
      assert.equal(push(resource([gauge('good', at(2, 1))])).rejected, 0)
    })
  }

  it('above the limits of series and sources are rejected, and others go on', () => {
    const { push, texts, sources } = pushed({ seriesPerSource: 2, series: 3, sources: 2 })
    const many = [1, 2, 3, 4].map(i => at(1, i, { i }))
    assert.equal(push(resource([gauge('g', ...many)], { r: '1' })).rejected, 2)
    assert.equal(push(resource([gauge('g', ...many)], { r: '2' })).rejected, 3)
    const third = push(resource([gauge('g', at(1, 1))], { r: '3' }))
    assert.deepEqual([third.rejected, third.message], [1, 'there are too many resources and scopes'])
    assert.equal(sources.seriesCount, 3)
    assert.deepEqual(texts(), ['g{i="1"} 1 1000\ng{i="2"} 2 1000\n', 'g{i="1"} 1 1000\n'])
    assert.equal(push(resource([gauge('g', at(2, 5, { i: 2 }))], { r: '1' })).rejected, 0)
  })

  it('that are rejected leave nothing behind: no metric, no series, no source', () => {
    const { push, sources } = pushed({ seriesPerSource: 1 })
    push(resource([gauge('kept', at(1, 1))]))
    for (let i = 0; i < 20; i++) push(resource([gauge(`other${i}`, at(1, 1)), gauge(`empty${i}`)]), resource([], { i }))
    const [source] = sources.all()
    assert.equal(sources.size, 1)
    assert.equal(source!.metrics.at(1), undefined)
    assert.equal(sources.seriesCount, 1)
  })

  it('with names or attributes that are too long are rejected', () => {
    const { push } = pushed()
    const long = 'x'.repeat(20_000)
    const taken = push(
      resource([gauge('g', at(1, 1, { long })), gauge(long, at(1, 1)), gauge('good', at(1, 1))]),
      resource([gauge('g', at(1, 1))], { long }),
    )
    assert.deepEqual([taken.rejected, taken.message], [3, 'a point has more than 16384 bytes of attributes'])
  })

  it('with descriptions that change are of one series, however many there were', () => {
    const { push, batches, sources } = pushed()
    for (let i = 1; i <= 30; i++) {
      assert.equal(push(resource([{ ...gauge('g', at(i, i)), description: `about ${i}` }])).rejected, 0)
    }
    assert.equal(sources.seriesCount, 1)
    assert.deepEqual(
      batches.map(({ values }) => values[0]),
      Array.from({ length: 30 }, (_, i) => i + 1),
    )
  })

  it('know the node that their resource names', () => {
    const { push, batches } = pushed()
    push(resource([gauge('g', at(1, 1))], { 'k8s.node.name': 'node-a' }))
    assert.equal(batches[0]!.source.node, 'node-a')
  })

  it('come only so often in one request', () => {
    const { push, batches } = pushed()
    const taken = push(resource([gauge('g', ...Array.from({ length: 70 }, (_, i) => at(i + 1, i)))]))
    assert.deepEqual([taken.rejected, taken.message], [6, 'metric "g" comes too often in one request'])
    assert.equal(batches.length, 64)
  })

  it('of a request that cannot be read to its end leave nothing', () => {
    const { pushes, sources, texts, push } = pushed()
    push(resource([sum('s', 'delta', at(1, 5))], { r: '1' }))
    texts()
    const body = JSON.stringify({
      resourceMetrics: [
        resource([sum('s', 'delta', at(2, 7)), gauge('new', at(2, 1))], { r: '1' }),
        resource([gauge('g', at(1, 1))], { r: '2' }),
        'nonsense',
      ],
    })
    assert.throws(() => finishNow(pushes.take(Buffer.from(body), 'json')), { name: 'MalformedError' })
    assert.equal(sources.seriesCount, 1)
    assert.equal(sources.size, 1)
    push(resource([sum('s', 'delta', at(2, 7))], { r: '1' }))
    assert.deepEqual(texts(), ['s 12 2000\n'])
  })

  it('of a large request are read in many turns, in both encodings', () => {
    const points = Array.from({ length: 5000 }, (_, i) => at(1, i, { i }))
    const request = { resourceMetrics: [resource([gauge('g', ...points)])] }
    for (const [encoding, body] of [
      ['json', Buffer.from(JSON.stringify(request))],
      ['protobuf', encodeRequest(request)],
    ] as const) {
      const { pushes, batches } = pushed({ series: 5000, seriesPerSource: 5000 })
      const turns = [...pushes.take(body, encoding)].length
      assert.ok(turns >= 10, `${encoding} took ${turns} turns`)
      assert.equal(batches[0]!.values.length, 5000)
    }
  })

  it('that nobody takes can be sent again, and count once', () => {
    const { push, behind, texts, refusedPoints } = pushed()
    const request = [
      resource([sum('s', 'delta', at(2, 7))], { r: '1' }),
      resource([sum('s', 'delta', at(2, 7))], { r: '2' }),
      resource([sum('s', 'delta', at(2, 7)), gauge('g', at(2, 1))], { r: '3' }),
    ]
    push(resource([sum('s', 'delta', at(1, 5))], { r: '1' }), resource([sum('s', 'delta', at(1, 5))], { r: '2' }))
    texts()
    behind.next = ({ source }) => {
      if (source.origin?.resource.attributes.get('r') === '2') throw new RefusedError('full')
    }
    assert.throws(() => push(...request), RefusedError)
    assert.equal(refusedPoints(), 2)
    assert.deepEqual(texts(), ['s 12 2000\n'])
    behind.next = () => {}
    assert.equal(push(...request).late, 1)
    assert.deepEqual(texts(), ['s 12 2000\n', 'g 1 2000\ns 7 2000\n'])
  })
})

describe('deltas that are pushed', () => {
  it('are added up, and begin with the first', () => {
    const { push, batches, texts } = pushed()
    push(resource([sum('s', 'delta', at(10, 5, {}, 4))]))
    assert.deepEqual([...batches[0]!.starts!], [4000])
    assert.deepEqual(texts(), ['s 5 10000\n'])
    push(resource([sum('s', 'delta', at(20, 3, {}, 10))]))
    push(resource([sum('s', 'delta', at(40, 2, {}, 30))]))
    assert.deepEqual(
      batches.map(({ values }) => values[0]),
      [8, 10],
    )
  })

  it('that have been counted, or begin before the stream, are late', () => {
    const { push, texts, batches } = pushed()
    push(resource([sum('s', 'delta', at(20, 5, {}, 10))]))
    assert.equal(push(resource([sum('s', 'delta', at(20, 5, {}, 10))])).late, 1)
    assert.equal(push(resource([sum('s', 'delta', at(30, 5, {}, 5))])).late, 1)
    assert.equal(push(resource([sum('s', 'delta', at(30, 1, {}, 20))])).late, 0)
    assert.equal(batches.at(-1)!.starts![0], 10_000)
    assert.deepEqual(texts(), ['s 5 20000\n', 's 6 30000\n'])
  })

  it('of histograms are added up by bucket, and begin anew with other bounds', () => {
    const { push, texts } = pushed()
    const point = (time: number, bounds: number[], counts: number[]): Data =>
      resource([
        histogram(
          'h',
          'delta',
          at(
            time,
            { count: counts.reduce((a, b) => a + b), sum: time, bucketCounts: counts, explicitBounds: bounds },
            {},
            time - 10,
          ),
        ),
      ])
    push(point(10, [1, 5], [1, 2, 3]))
    push(point(20, [1, 5], [1, 0, 1]))
    assert.deepEqual(
      texts().at(-1),
      `h_bucket{le="+Inf"} 8 20000
h_bucket{le="1"} 2 20000
h_bucket{le="5"} 4 20000
h_count 8 20000
h_sum 30 20000
`,
    )
    push(point(30, [1], [4, 1]))
    assert.deepEqual(
      texts().at(0),
      `h_bucket{le="+Inf"} 5 30000
h_bucket{le="1"} 4 30000
h_count 5 30000
h_sum 30 30000
`,
    )
  })
})

describe('histograms and summaries that are pushed', () => {
  it('become classic series', () => {
    const { push, texts } = pushed()
    push(
      resource([
        histogram(
          'h',
          'cumulative',
          at(1, { count: 6, sum: 12.5, bucketCounts: [1, 2, 3], explicitBounds: [1, 5.5] }, { le: 'mine' }),
        ),
        histogram('bare', 'cumulative', at(1, { count: 6 })),
        {
          name: 'q',
          summary: {
            dataPoints: [at(1, { count: 3, sum: 6, quantileValues: [{ value: 1 }, { quantile: 0.5, value: 2 }] })],
          },
        },
      ]),
    )
    assert.deepEqual(texts(), [
      `bare_bucket{le="+Inf"} 6 1000
bare_count 6 1000
h_bucket{exported_le="mine",le="+Inf"} 6 1000
h_bucket{exported_le="mine",le="1"} 1 1000
h_bucket{exported_le="mine",le="5.5"} 3 1000
h_count{exported_le="mine"} 6 1000
h_sum{exported_le="mine"} 12.5 1000
q_count 3 1000
q_sum 6 1000
q{quantile="0"} 1 1000
q{quantile="0.5"} 2 1000
`,
    ])
  })

  it('lose the series of bounds that are no more', () => {
    const { push, batches } = pushed()
    const point = (time: number, bounds: number[]): Data =>
      resource([
        histogram(
          'h',
          'cumulative',
          at(time, { count: 6, bucketCounts: [...bounds.map(() => 1), 0], explicitBounds: bounds }),
        ),
      ])
    push(point(1, [1, 2]))
    push(point(2, [1, 3]))
    const { layout } = batches.at(-1)!
    assert.deepEqual(layout.labels.map(({ values }) => values.join()).sort(), ['', '+Inf', '1', '3'])
  })
})
