import assert from 'node:assert/strict'
import * as fields from '../../../pipeline/formats/json-fields.ts'
import { JSON_NUMBER_ROOM, writeDouble } from '../../../pipeline/formats/otlp-json-number.ts'
import { createJsonReader } from '../../../pipeline/formats/otlp-json.ts'
import { recordPoints } from '../../support/recorded-points.ts'
import { sharedJson } from '../../support/shared.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'

type Case = { name: string; type: string; json: string; expect: 'ok' | 'error'; value?: string }

const suite = sharedJson<{ cases: Case[] }>('conformance', 'otlp', 'json-scalars.json')
const ENUM = { undefined: 0, foo: 1, bar: 2 }

const READERS: Record<string, (json: string) => string> = {
  int32: json => String(fields.jsonInt32(JSON.parse(json), 'x')),
  uint32: json => String(fields.jsonUint32(JSON.parse(json), 'x')),
  int64: json => String(fields.jsonInt64(JSON.parse(json), 'x')),
  uint64: json => String(fields.jsonUint64(JSON.parse(json), 'x')),
  double: json =>
    String(fields.jsonDouble(JSON.parse(json), 'x')).replace(/^(-?)Infinity$/, (_, sign) => `${sign || '+'}Inf`),
  'enum{undefined:0,foo:1,bar:2}': json => String(fields.jsonEnum(JSON.parse(json), 'x', ENUM)),
  bytes: json => Buffer.from(fields.jsonBytes(JSON.parse(json), 'x')).toString(),
  ExportMetricsServiceRequest: json =>
    String(recordPoints(sink => finishNow(createJsonReader().read(Buffer.from(json), sink)))),
}

describe('fields of protobuf in JSON', () => {
  for (const { name, type, json, expect, value = '' } of suite?.cases ?? []) {
    if (type === 'double (encode)') {
      it(`${name} is written`, () => {
        const bytes = new Uint8Array(JSON_NUMBER_ROOM)
        const end = writeDouble(bytes, 0, Number(value.replace('Inf', 'Infinity')))
        assert.equal(Buffer.from(bytes.subarray(0, end)).toString(), json)
      })
      continue
    }
    const read = READERS[type]
    it(`${name} is ${expect}`, () => {
      assert.ok(read !== undefined, `nobody reads ${type}`)
      if (expect === 'ok') assert.equal(read(json), value)
      else assert.throws(() => read(json), { name: 'MalformedError' })
    })
  }

  const wrong: [(value: unknown, field: string) => unknown, unknown, string][] = [
    [fields.jsonInt32, 2 ** 31, '"x": expected an integer from -2147483648 to 2147483647, found 2147483648'],
    [fields.jsonInt64, '9223372036854775808', '"x": expected an integer of 64 bits, found "9223372036854775808"'],
    [fields.jsonUint64, -1, '"x": expected an integer of 64 bits that is not negative, found -1'],
    [fields.jsonInt64, 1.5, '"x": expected an integer of 64 bits, found 1.5'],
    [fields.jsonText, 1, '"x": expected a text, found 1'],
    [fields.jsonList, {}, '"x": expected a list, found an object'],
    [fields.jsonObject, [], '"x": expected an object, found a list'],
    [fields.jsonBytes, 'a', '"x": expected bytes in base64, found "a"'],
    [fields.jsonDouble, '', '"x": expected a number, found ""'],
  ]
  for (const [reader, value, message] of wrong) {
    it(`says what is wrong with ${JSON.stringify(value)} for ${reader.name}`, () => {
      assert.throws(() => reader(value, 'x'), { message })
    })
  }

  it('takes null for a field that is not there', () => {
    assert.equal(fields.jsonInt64(null, 'x'), 0)
    assert.equal(fields.jsonText(null, 'x'), '')
    assert.deepEqual(fields.jsonList(null, 'x'), [])
    assert.equal(fields.jsonBoolean(null, 'x'), false)
  })

  it('reads base64 with either alphabet, padded or not', () => {
    for (const text of ['-_8=', '+/8', '-_8', '+/8=']) {
      assert.deepEqual([...fields.jsonBytes(text, 'x')], [0xfb, 0xff], text)
    }
  })

  it('reads times to the millisecond, whatever they are written as', () => {
    assert.equal(fields.jsonMilliseconds('1700000000123000000', 'x'), 1700000000123)
    assert.equal(fields.jsonMilliseconds('1700000000122999999', 'x'), 1700000000122)
    assert.equal(fields.jsonMilliseconds(1_700_000_000, 'x'), 1700)
    assert.equal(fields.jsonMilliseconds(undefined, 'x'), 0)
  })
})
