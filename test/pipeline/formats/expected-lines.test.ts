import assert from 'node:assert/strict'
import fc from 'fast-check'
import { landing } from '../../../pipeline/landing.ts'
import { createTextReader, type TextReader } from '../../../pipeline/formats/prometheus-text.ts'

/** Lines with keys of all lengths, so that some are shorter than what is compared at once, and some end where that does. */
const KEYS = Array.from({ length: 150 }, (_, i) => (i < 30 ? 'm'.repeat(i + 1) : `metric{label="${'v'.repeat(i)}"}`))

function payload(numbers: readonly string[]): string {
  const lines = KEYS.map((key, i) => `# HELP ${key.split('{')[0]} ${i}\n${key} ${numbers[i % numbers.length]}\n`)
  return lines.join('')
}

function read(reader: TextReader, chunks: readonly Uint8Array[]): Float64Array {
  reader.begin('text')
  for (const chunk of chunks) reader.push(chunk)
  const { values, badLines } = reader.finish()
  assert.equal(badLines, 0)
  return values
}

/** As sockets receive it. */
function landed(text: string): Uint8Array {
  const length = landing.write(text)
  return new Uint8Array(landing.buffer, landing.byteOffset, length)
}

describe('reading lines that are as expected', () => {
  const first = payload(['1'])
  let reader: TextReader
  beforeEach(() => {
    reader = createTextReader()
    read(reader, [Buffer.from(first)])
  })

  for (const number of [
    '0',
    '-0',
    '7',
    '-1.5',
    '0.1',
    '.5',
    '5.',
    '123456789012345',
    '0.00000000000001',
    '99999.123456',
  ]) {
    it(`reads ${number} where it landed and elsewhere`, () => {
      const expected = KEYS.map(() => Number(number))
      assert.deepEqual([...read(reader, [landed(payload([number]))])], expected)
      assert.deepEqual([...read(reader, [Buffer.from(payload([number]))])], expected)
    })
  }

  for (const number of ['1e3', '1234567890123456', '+Inf', 'NaN', '0.1234567890123456789', '-1.7976931348623157e308']) {
    it(`reads ${number} between others`, () => {
      const numbers = ['1', '2.5', number, '-3']
      const value = number === '+Inf' ? Infinity : Number(number)
      const expected = KEYS.map((_, i) => [1, 2.5, value, -3][i % 4])
      assert.deepEqual([...read(reader, [landed(payload(numbers))])], expected)
    })
  }

  it('reads what arrives in pieces, also when other targets are read in between', () => {
    const other = createTextReader()
    read(other, [Buffer.from(payload(['8']).replaceAll('metric', 'other'))])
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true }), { minLength: 3, maxLength: 20 }), fc.nat(), (numbers, seed) => {
        const bytes = Buffer.from(payload(numbers.map(number => (Object.is(number, -0) ? '-0' : String(number)))))
        const cuts = [seed % bytes.length, (seed * 7) % bytes.length].toSorted((a, b) => a - b)
        const chunks = [bytes.subarray(0, cuts[0]), bytes.subarray(cuts[0], cuts[1]), bytes.subarray(cuts[1])]
        reader.begin('text')
        for (const chunk of chunks) {
          reader.push(landed(chunk.toString()))
          read(other, [landed(payload(['9']).replaceAll('metric', 'other'))])
        }
        assert.deepEqual(
          [...reader.finish().values],
          KEYS.map((_, i) => numbers[i % numbers.length]),
        )
      }),
    )
  })

  it('finds a line that is another by one byte, wherever that is', () => {
    for (const [i, key] of KEYS.entries()) {
      for (const at of [key.length - 3, Math.floor(key.length / 2)].filter(at => key[at] === 'v' || key[at] === 'm')) {
        const changed = `${key.slice(0, at)}w${key.slice(at + 1)}`
        const lines = KEYS.map((one, j) => `# HELP ${one.split('{')[0]} ${j}\n${j === i ? changed : one} 1\n`)
        const fresh = createTextReader()
        read(fresh, [Buffer.from(first)])
        fresh.begin('text')
        fresh.push(landed(lines.join('')))
        assert.equal(fresh.finish().added, 1, changed)
      }
    }
  })

  it('is not misled by what was in the memory behind the bytes', () => {
    landing.fill('1\n')
    reader.begin('text')
    reader.push(landed(payload(['4']).slice(0, -3)))
    const { values, badLines } = reader.finish()
    assert.equal(badLines, 1)
    assert.deepEqual(
      [...values],
      KEYS.slice(1).map(() => 4),
    )
  })
})
