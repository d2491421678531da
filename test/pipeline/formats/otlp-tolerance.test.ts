/** What may be different on the wire and is the same, and what must not be. */
import assert from 'node:assert/strict'
import { createJsonReader } from '../../../pipeline/formats/otlp-json.ts'
import { createProtobufReader } from '../../../pipeline/formats/otlp-protobuf.ts'
import { recordPoints, type Told } from '../../support/recorded-points.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'

type Piece = Buffer | number | string

function bytes(...pieces: Piece[]): Buffer {
  return Buffer.concat(
    pieces.map(piece => (typeof piece === 'number' ? Buffer.of(piece) : Buffer.from(piece as string))),
  )
}

/** A field with a length. */
function part(number: number, ...pieces: Piece[]): Buffer {
  const inner = bytes(...pieces)
  assert.ok(inner.length < 128 && number < 16)
  return bytes((number << 3) | 2, inner.length, inner)
}

function double(number: number, value: number): Buffer {
  const buffer = Buffer.alloc(9)
  buffer[0] = (number << 3) | 1
  buffer.writeDoubleLE(value, 1)
  return buffer
}

const attribute = (field: number, key: string, value: string): Buffer =>
  part(field, part(1, key), part(2, part(1, value)))
const gauge = (...point: Piece[]): Buffer => part(1, part(2, part(2, part(1, 'g'), part(5, part(1, ...point)))))

function told(body: Uint8Array): Told[] {
  return recordPoints(sink => finishNow(createProtobufReader().read(body, sink)))
}

function point(...pieces: Piece[]): Told {
  return told(gauge(...pieces))[2]
}

describe('OTLP in protobuf', () => {
  const plain = point(double(4, 1.5), attribute(7, 'a', 'b'))

  it('reads a point', () => {
    assert.equal(plain.value, 1.5)
    assert.deepEqual(plain.attributes, [['a', 'b']])
  })

  const tolerated: [string, ...Piece[]][] = [
    ['an unknown varint', 0x78, 0xff, 0x01, double(4, 1.5), attribute(7, 'a', 'b')],
    ['unknown eight bytes', double(15, 3), double(4, 1.5), attribute(7, 'a', 'b')],
    ['unknown four bytes', 0x7d, 1, 2, 3, 4, double(4, 1.5), attribute(7, 'a', 'b')],
    ['an unknown part', part(15, 'xyz'), double(4, 1.5), attribute(7, 'a', 'b')],
    ['a group in a group', 0x7b, 0x73, 0x08, 1, 0x74, 0x7c, double(4, 1.5), attribute(7, 'a', 'b')],
    ['another order', attribute(7, 'a', 'b'), double(4, 1.5)],
    ['a value that comes twice', double(4, 9), double(4, 1.5), attribute(7, 'a', 'b')],
    ['a known field with another wire type', 0x20, 7, double(4, 1.5), attribute(7, 'a', 'b')],
    ['a varint that is longer than it needs to be', 0x40, 0x80, 0x80, 0x00, double(4, 1.5), attribute(7, 'a', 'b')],
    ['a tag that is longer than it needs to be', 0xc0, 0x00, 0x00, double(4, 1.5), attribute(7, 'a', 'b')],
    ['an attribute whose value comes in parts', double(4, 1.5), part(7, part(1, 'a'), part(2), part(2, part(1, 'b')))],
  ]
  for (const [what, ...pieces] of tolerated) {
    it(`is the same with ${what}`, () => assert.deepEqual(point(...pieces), plain))
  }

  it('takes attributes that lie apart together', () => {
    const apart = point(attribute(7, 'a', 'b'), double(4, 1.5), attribute(7, 'c', 'd'), 0x40, 0, attribute(7, 'e', 'f'))
    assert.deepEqual(apart.attributes, [
      ['a', 'b'],
      ['c', 'd'],
      ['e', 'f'],
    ])
  })

  it('joins parts of one message: a resource, a gauge', () => {
    const events = told(
      part(
        1,
        part(1, attribute(1, 'a', 'b')),
        part(2, part(2, part(1, 'g'), part(5, part(1, double(4, 1))), part(5, part(1, double(4, 2))))),
        part(1, attribute(1, 'c', 'd')),
      ),
    )
    assert.deepEqual(events[0].resource, [
      ['a', 'b'],
      ['c', 'd'],
    ])
    assert.deepEqual(
      events.slice(2).map(({ value }) => value),
      [1, 2],
    )
  })

  it('has of two kinds of data the last', () => {
    const events = told(
      part(1, part(2, part(2, part(5, part(1, double(4, 1))), part(7, part(1, double(4, 2)), 0x10, 2, 0x18, 1)))),
    )
    assert.equal(events[1].kind, 'sum')
    assert.equal(events[1].temporality, 2)
    assert.deepEqual(
      events.slice(2).map(({ value }) => value),
      [2],
    )
  })

  it('reads lists of numbers that are packed and such that are not', () => {
    const histogram = (...pieces: Piece[]): Told => told(part(1, part(2, part(2, part(9, part(1, ...pieces))))))[2]
    const one = Buffer.from('0100000000000000', 'hex')
    const packed = histogram(part(6, one, one), part(7, double(0, 2).subarray(1)))
    const single = histogram(0x31, one, double(7, 2), 0x31, one)
    assert.deepEqual(packed.bucketCounts, [1, 1])
    assert.deepEqual(single, packed)
  })

  it('lets an unknown temporality through as it is', () => {
    const events = told(part(1, part(2, part(2, part(7, part(1, double(4, 2)), 0x10, 9)))))
    assert.equal(events[1].temporality, 9)
  })

  const bad: [string, Buffer, RegExp][] = [
    ['field number 0', bytes(0x02, 0), /no field with the number 0/],
    ['wire type 6', bytes(0x0e), /no wire type 6/],
    ['wire type 7', bytes(0x0f), /no wire type 7/],
    ['the end of a group that did not begin', bytes(0x0c), /ends that did not begin/],
    ['a group without end', bytes(0x7b, 0x08, 1), /does not end/],
    ['a group that another ends', bytes(0x7b, 0x74), /not the one that began last/],
    ['a varint of eleven bytes', bytes(0x78, ...Array(10).fill(0xff), 1), /longer than ten bytes/],
    ['a length beyond the end', bytes(0x0a, 5, 1), /ends in the middle/],
    ['a length of 64 bits', bytes(0x0a, ...Array(9).fill(0xff), 1), /ends in the middle/],
    ['a part that is longer than what it is in', part(1, 0x12, 50, 1), /ends in the middle/],
    ['a tag of more than 32 bits', bytes(...Array(5).fill(0xff), 0x7f, 1), /more than 32 bits/],
    ['a name that is not UTF-8', part(1, part(2, part(2, part(1, Buffer.of(0xff, 0xfe))))), /not UTF-8/],
    ['an attribute that is not UTF-8', gauge(part(7, part(1, Buffer.of(0xc3)))), /not UTF-8/],
    ['half a number in a list', part(1, part(2, part(2, part(9, part(1, part(6, 1, 2)))))), /middle of one/],
    ['a bad exemplar', gauge(part(5, part(7, 0x0a, 9))), /ends in the middle/],
    ['a bad attribute of a resource without scopes', part(1, part(1, part(1, 0x0a, 9))), /ends in the middle/],
    ['text', bytes('hello, this is not protobuf'), /./],
  ]
  for (const [what, body, message] of bad) {
    it(`does not read ${what}`, () => assert.throws(() => told(body), { name: 'MalformedError', message }))
  }

  it('does not follow values that are nested without end', () => {
    let value: Buffer = Buffer.alloc(0)
    for (let depth = 0; depth < 200; depth++) {
      const list = bytes((5 << 3) | 2, varint(lengthOfItem(value)), 0x0a, varint(value.length), value)
      value = list
    }
    const keyValue = bytes(0x0a, 1, 'k', 0x12, varint(value.length), value)
    const number = bytes((7 << 3) | 2, varint(keyValue.length), keyValue)
    const wrap = (field: number, inner: Buffer): Buffer => bytes((field << 3) | 2, varint(inner.length), inner)
    assert.throws(() => told(wrap(1, wrap(2, wrap(2, wrap(5, wrap(1, number)))))), /nested deeper than 100/)
  })

  function lengthOfItem(value: Buffer): number {
    return 1 + varint(value.length).length + value.length
  }

  function varint(value: number): Buffer {
    return value < 128 ? Buffer.of(value) : Buffer.of((value & 0x7f) | 0x80, value >> 7)
  }
})

describe('OTLP in JSON', () => {
  const request = (dataPoint: unknown): string =>
    JSON.stringify({
      resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'g', gauge: { dataPoints: [dataPoint] } }] }] }],
    })
  const read = (json: string): Told[] =>
    recordPoints(sink => finishNow(createJsonReader().read(Buffer.from(json), sink)))

  it('keeps integers that are written as numbers and that no number can hold', () => {
    const json = request({ attributes: [{ key: 'a', value: { intValue: 1 } }] }).replace(
      '"intValue":1',
      '"intValue":9007199254740993',
    )
    assert.deepEqual(read(json)[2].attributes, [['a', 9007199254740993n]])
  })

  it('takes null for what is not there: a point without a value', () => {
    assert.equal(read(request({ asDouble: null }))[2].hasValue, false)
  })

  it('writes long and foreign texts as they are', () => {
    for (const text of ['é'.repeat(100), 'x'.repeat(300), '\u{1f600}', 'a\u0000b']) {
      assert.deepEqual(read(request({ attributes: [{ key: text, value: { stringValue: text } }] }))[2].attributes, [
        [text, text],
      ])
    }
  })

  const bad: [string, string, RegExp][] = [
    ['a number', '1234', /"the request": expected an object, found 1234/],
    ['half of it', '{"resourceMetrics":[', /it is not JSON/],
    ['a list that is none', '{"resourceMetrics":{}}', /"resourceMetrics": expected a list, found an object/],
    ['null in a list', '{"resourceMetrics":[null]}', /expected an object, found null/],
    ['a wrong value', request({ asInt: '1.5' }), /metric "g": "asInt": expected an integer of 64 bits, found "1.5"/],
    ['two values', request({ asInt: '1', asDouble: 1 }), /no asInt beside it/],
    [
      'a trace id in base64',
      request({ exemplars: [{ traceId: 'W47/95gDgQPSabYzgT/GDA==' }] }),
      /"traceId": expected 32 hexadecimal digits/,
    ],
    [
      'two kinds of value',
      request({ attributes: [{ key: 'a', value: { stringValue: 'a', intValue: 1 } }] }),
      /one kind of value/,
    ],
  ]
  for (const [what, json, message] of bad) {
    it(`does not read ${what}`, () => assert.throws(() => read(json), { name: 'MalformedError', message }))
  }

  it('does not read what is not UTF-8', () => {
    assert.throws(() => finishNow(createJsonReader().read(Buffer.of(0x22, 0xff, 0x22), {} as never)), /not UTF-8/)
  })

  it('does not follow values that are nested without end', () => {
    const depth = 50_000
    const nested = '{"arrayValue":{"values":['.repeat(depth) + ']}}'.repeat(depth)
    const json = request({ attributes: [{ key: 'a', value: 0 }] }).replace('"value":0', `"value":${nested}`)
    assert.throws(() => read(json), /nested deeper than 100/)
  })
})
