import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readJson } from '../../../pipeline/formats/json-pieces.ts'
import { finishNow } from '../../../pipeline/formats/render-work.ts'

/** Larger than what is read in one piece, wherever it stands. */
const FILLER = 'f'.repeat(1000)
const LARGE = JSON.stringify(Array.from({ length: 200 }, (_, i) => ({ i, text: `${FILLER}"\\é,]}`, list: [[], {}] })))

function read(text: string): unknown {
  return finishNow(readJson(Buffer.from(text)))
}

function pausesIn(text: string): number {
  return [...readJson(Buffer.from(text))].length
}

/** What it reads or that it cannot. */
function outcome(readText: (text: string) => unknown, text: string): unknown {
  try {
    return { value: JSON.stringify(readText(text)) }
  } catch {
    return 'refused'
  }
}

describe('JSON that is read in pieces', () => {
  const texts = [
    '{}',
    '[]',
    '1',
    `"${FILLER.repeat(300)}"`,
    LARGE,
    `  ${LARGE}\n`,
    `{"a":${LARGE}}`,
    `{"b" : 1, "a" : ${LARGE} , "c":[1,2],"a2":${LARGE}}`,
    `{"a":${LARGE},"a":1}`,
    `{"a":1,"a":${LARGE}}`,
    `{"\\u0061":${LARGE}}`,
    `{"__proto__":${LARGE},"x":1}`,
    `[${LARGE},1,${LARGE},[${LARGE}],{"x":${LARGE}}]`,
    `{"empty":[ ],"a":{"b":{"c":[{"d":[{"e":[{"f":${LARGE},"g":{}}]}]}]}}}`,
    `${'['.repeat(40)}${LARGE}${']'.repeat(40)}`,
    `[${' '.repeat(300_000)}]`,
  ]
  for (const text of texts) {
    it(`is what JSON.parse makes of ${shown(text)}`, () => {
      assert.deepEqual(JSON.stringify(read(text)), JSON.stringify(JSON.parse(text)))
    })
  }

  const bad = [
    '',
    '{',
    `[${LARGE}`,
    `${LARGE}]`,
    `${LARGE}${LARGE}`,
    `${LARGE} x`,
    `x ${LARGE}`,
    `[${LARGE},]`,
    `[,${LARGE}]`,
    `[${LARGE},,${LARGE}]`,
    `[${LARGE} ${LARGE}]`,
    `[1 ${LARGE}]`,
    `[${LARGE} 1]`,
    `{"a" ${LARGE}}`,
    `{"a":1${LARGE}}`,
    `{"a":"b"${LARGE}}`,
    `{"a":${LARGE} 1}`,
    `{${LARGE}}`,
    `{:${LARGE}}`,
    `{1:${LARGE}}`,
    `{"a":${LARGE},}`,
    `["a":${LARGE}]`,
    `[${LARGE}}`,
    `{"a":${LARGE}]`,
    `[${LARGE},"${FILLER}]`,
    `[${LARGE},nul]`,
    `[${'1,'.repeat(200_000)}]`,
  ]
  for (const text of bad) {
    it(`is refused: ${shown(text)}`, () => {
      assert.throws(() => JSON.parse(text))
      assert.throws(() => read(text), { name: 'MalformedError', message: /^it is not JSON: / })
    })
  }

  it('is refused where it is not UTF-8, and may have a byte order mark', () => {
    const wrong = Buffer.concat([Buffer.from('["'), Buffer.of(0xff), Buffer.from(`",${LARGE}]`)])
    assert.throws(() => finishNow(readJson(wrong)), { name: 'MalformedError', message: 'it is not UTF-8' })
    assert.deepEqual(read(`\ufeff[1,${LARGE}]`), JSON.parse(`[1,${LARGE}]`))
    assert.deepEqual(read('\ufeff[1]'), [1])
  })

  it('has integers that no number can hold as texts, wherever they stand', () => {
    const wide = '12345678901234567890'
    assert.deepEqual(read(`[${wide},-${wide},1.5,"${wide}"]`), [wide, `-${wide}`, 1.5, wide])
    const items = Array.from({ length: 20_000 }, () => `{"t":${wide}}`).join()
    const { list, last } = read(`{"list":[${items}],"last":${wide}}`) as { list: { t: string }[]; last: string }
    assert.equal(last, wide)
    assert.ok(list.length === 20_000 && list.every(({ t }) => t === wide))
  })

  it('gives others their turn', () => {
    assert.equal(pausesIn('[1]'), 0)
    const points = Array.from({ length: 20_000 }, (_, i) => `{"timeUnixNano":"1${i}","asDouble":${i},"attributes":[]}`)
    const megabytes = Buffer.byteLength(points.join()) / 2 ** 20
    const list = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"gauge":{"dataPoints":[${points.join()}]}}]}]}]}`
    assert.ok(pausesIn(list) >= 4 * megabytes)
    const metrics = points.map(point => `{"gauge":{"dataPoints":[${point}]}}`).join()
    assert.ok(pausesIn(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metrics}]}]}]}`) >= 4 * megabytes)
  })

  it('is what JSON.parse makes of it, or refused, whatever is changed in it', () => {
    const text = `{"a":[${LARGE},{"b":${LARGE},"c":[1,2,{}]},3],"d":null}`
    const marks = ['"', '\\', ',', ':', '[', ']', '{', '}', ' ', '1', 'é', '']
    // Most changes hit the filler; those at the seams are the ones that count.
    const seams = [...text.matchAll(/[[{]{2,}|[\]}]{2,}|null|"[a-d]"/g)].map(({ index }) => index)
    const places = fc.tuple(fc.constantFrom(...seams), fc.integer({ min: -3, max: 6 })).map(([at, by]) => at + by)
    fc.assert(
      fc.property(places, fc.nat({ max: 3 }), fc.constantFrom(...marks), (place, length, mark) => {
        const at = Math.max(0, place)
        const changed = text.slice(0, at) + mark + text.slice(at + length)
        assert.deepEqual(outcome(read, changed), outcome(JSON.parse, changed))
      }),
      { numRuns: 300 },
    )
  })
})

function shown(text: string): string {
  const short = text
    .replaceAll(LARGE, '…')
    .replaceAll(FILLER, 'f')
    .replaceAll(/(.{2})\1{9,}/g, '$1…')
  return short.length > 60 ? `${short.slice(0, 60)}…` : short
}
