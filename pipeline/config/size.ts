/** Amounts of bytes as users write them: `64MiB`, `1.5GB`, `65536`. */

const BYTES_PER_UNIT: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

/** Whole bytes. Throws an Error that quotes the text. */
export function parseSize(text: string): number {
  const [, amount, unit] = /^(\d+\.?\d*|\.\d+) ?([A-Za-z]*)$/.exec(text) ?? []
  const factor = unit === undefined || !Object.hasOwn(BYTES_PER_UNIT, unit) ? undefined : BYTES_PER_UNIT[unit]
  if (factor === undefined) throw new Error(`"${text}" is not a size such as 64MiB or a number of bytes`)
  const bytes = Math.round(Number(amount) * factor)
  if (!Number.isSafeInteger(bytes)) throw new Error(`"${text}" is too large for a size`)
  return bytes
}
