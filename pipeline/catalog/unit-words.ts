/** How units are called in names of metrics and in `# UNIT` lines, where Prometheus wants words. */
import { isUnit } from './units.ts'

const WORDS: readonly (readonly [unit: string, word: string])[] = [
  ['1', 'ratio'],
  ['%', 'percent'],
  ['By', 'bytes'],
  ['kB', 'kilobytes'],
  ['MB', 'megabytes'],
  ['GB', 'gigabytes'],
  ['KiB', 'kibibytes'],
  ['MiB', 'mebibytes'],
  ['GiB', 'gibibytes'],
  ['By/s', 'bytes_per_second'],
  ['kB/s', 'kilobytes_per_second'],
  ['MB/s', 'megabytes_per_second'],
  ['GB/s', 'gigabytes_per_second'],
  ['KiB/s', 'kibibytes_per_second'],
  ['MiB/s', 'mebibytes_per_second'],
  ['s', 'seconds'],
  ['ns', 'nanoseconds'],
  ['us', 'microseconds'],
  ['ms', 'milliseconds'],
  ['min', 'minutes'],
  ['h', 'hours'],
  ['J', 'joules'],
  ['uJ', 'microjoules'],
  ['mJ', 'millijoules'],
  ['kJ', 'kilojoules'],
  ['Wh', 'watthours'],
  ['W', 'watts'],
  ['mW', 'milliwatts'],
  ['kW', 'kilowatts'],
  ['Hz', 'hertz'],
  ['kHz', 'kilohertz'],
  ['MHz', 'megahertz'],
  ['GHz', 'gigahertz'],
  ['{core}', 'cores'],
  ['{millicore}', 'millicores'],
  ['{nanocore}', 'nanocores'],
  ['V', 'volts'],
  ['mV', 'millivolts'],
  ['Cel', 'celsius'],
]

const wordsByUnit: ReadonlyMap<string, string> = new Map(WORDS)
const unitsByWord: ReadonlyMap<string, string> = new Map(WORDS.map(([unit, word]) => [word, unit]))

export function wordOf(unit: string): string | undefined {
  return wordsByUnit.get(unit)
}

/** The unit that a source means, whether it writes `By` or `bytes`. */
export function unitFromText(text: string): string | undefined {
  if (text === '') return undefined
  return unitsByWord.get(text) ?? (isUnit(text) ? text : undefined)
}

/** The unit that a name ends in, as `fb_used_bytes` does. */
export function unitFromName(name: string): string | undefined {
  // `bytes_per_second` before `second`: the longest ending counts.
  const parts = name.split('_')
  for (let i = 1; i < parts.length; i++) {
    const unit = unitsByWord.get(parts.slice(i).join('_'))
    if (unit !== undefined) return unit
  }
  return undefined
}
