import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLineSplitter } from '../../../pipeline/kubernetes/line-splitter.ts'

function split(pieces: readonly Uint8Array[], limit: number): string[] {
  const lines: string[] = []
  const splitter = createLineSplitter(
    limit,
    line => lines.push(line),
    () => lines.push('too long'),
  )
  for (const piece of pieces) {
    // Whoever hands a piece over uses its memory for the next.
    const buffer = Uint8Array.from(piece)
    splitter.push(buffer)
    buffer.fill(0x21)
  }
  return lines
}

describe('lines of a body', () => {
  for (const [pieces, expected] of [
    [['a\nb\n'], ['a', 'b']],
    [['a', 'b', '\n'], ['ab']],
    [['a\nb'], ['a']],
    [['\n\na\n\n'], ['a']],
    [[''], []],
    [['12345678\n'], ['12345678']],
    [['123456789\nx\n'], ['too long', 'x']],
    [
      ['12345', '6789', '0', '\nx\n'],
      ['too long', 'x'],
    ],
    [['12345678', '\n'], ['12345678']],
    [['123456789'], []],
  ] as [string[], string[]][]) {
    it(`are ${JSON.stringify(expected)} of ${JSON.stringify(pieces)}, up to 8 bytes each`, () => {
      assert.deepEqual(
        split(
          pieces.map(piece => Buffer.from(piece)),
          8,
        ),
        expected,
      )
    })
  }

  it('are the same however the body is cut, also inside of a character', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '语', '🙂'), maxLength: 8 }))
    fc.assert(
      fc.property(lines, fc.array(fc.nat(40)), (texts, cuts) => {
        const body = Buffer.from(texts.map(text => `${text}\n`).join(''))
        const places = [0, ...cuts.filter(cut => cut < body.length).toSorted((a, b) => a - b), body.length]
        const pieces = places.slice(1).map((end, i) => body.subarray(places[i], end))
        assert.deepEqual(
          split(pieces, 1000),
          texts.filter(text => text !== ''),
        )
      }),
    )
  })
})
