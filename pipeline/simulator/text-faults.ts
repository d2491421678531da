/** Text that a scraper should survive: what exporters have been seen to send, and worse. */
import type { Fault } from './faults.ts'
import { fractionOf, hashOf } from './random.ts'

/** Printed for values that DCGM does not have: integers of 32 and 64 bits, and floats. */
const SENTINELS = ['2147483632', '9223372036854775792', '9223372036854775794', '140737488355328.000000']
/** Seen in the field: utilisation and temperature beyond all measure. */
const OUT_OF_RANGE = ['4294967295', '2619', '82505', '-17']
const BOUNDED = /_(?:UTIL|TEMP|UTIL_RATIO|TEMP_CELSIUS)\{|_(?:utilization|temp)\{/
const GARBAGE = [
  'this is no sample',
  'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1 17',
  'DCGM_FI_DEV_VGPU_PER_PROCESS_UTILIZATION{gpu="0"} ERROR - FAILED TO CONVERT TO STRING',
  '{gpu="0"} 1',
  'DCGM_FI_DEV_GPU_UTIL{gpu=0} 1',
  '\x00\x01\x02\x7f',
  'DCGM_FI_DEV_GPU_UTIL{gpu="0"}',
  '# TYPE',
]

type Change = { readonly matches: RegExp; change(line: string, hash: number): string }

const SAMPLE = /^[a-zA-Z_:]/
const CHANGES: Partial<Readonly<Record<Fault['kind'], Change>>> = {
  garbage: { matches: SAMPLE, change: (line, hash) => `${line}\n${pick(GARBAGE, hash)}` },
  sentinel: { matches: SAMPLE, change: (line, hash) => withValue(line, pick(SENTINELS, hash)) },
  out_of_range: { matches: BOUNDED, change: (line, hash) => withValue(line, pick(OUT_OF_RANGE, hash)) },
  duplicate_rows: { matches: SAMPLE, change: line => `${line}\n${line}` },
}

/** The text with all that is wrong with it just now. Which lines are hit depends on the moment alone. */
export function spoilText(pieces: readonly string[], faults: readonly Fault[], timeMs: number): readonly string[] {
  let spoilt = pieces
  for (const fault of faults) {
    const change = CHANGES[fault.kind]
    if (change !== undefined) spoilt = changeLines(spoilt, change, fault.share ?? 0.05, Math.floor(timeMs / 1000))
  }
  return spoilt
}

/** The first line that matches is always hit, so that a small text is not spared. */
function changeLines(pieces: readonly string[], { matches, change }: Change, share: number, second: number): string[] {
  let number = 0
  return pieces.map(piece => {
    const lines = piece.split('\n')
    for (const [at, line] of lines.entries()) {
      if (!matches.test(line)) continue
      if (number === 0 || fractionOf(second, number) < share) lines[at] = change(line, hashOf(number, second))
      number++
    }
    return lines.join('\n')
  })
}

/** A timestamp stays where there is one. */
function withValue(line: string, value: string): string {
  const brace = line.lastIndexOf('}')
  const from = brace < 0 ? line.indexOf(' ') + 1 : brace + 2
  const to = line.indexOf(' ', from)
  return line.slice(0, from) + value + (to < 0 ? '' : line.slice(to))
}

function pick<T>(list: readonly T[], hash: number): T {
  return list[hash % list.length]!
}

/** What is left of a text of which the rest is lost. */
export function cutText(pieces: readonly string[], share: number): string[] {
  let left = Math.floor(share * pieces.reduce((sum, piece) => sum + piece.length, 0))
  const kept: string[] = []
  for (const piece of pieces) {
    if (left <= 0) break
    kept.push(piece.slice(0, left))
    left -= piece.length
  }
  return kept
}
