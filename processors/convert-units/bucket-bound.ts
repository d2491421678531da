/** Bounds of buckets in another unit: texts, so that 0.07 s is 70 ms and not 70.00000000000001. */
import { applyScale, type Scale } from '../../pipeline/model/scale.ts'

const DECIMAL = /^(-?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,2}))?$/

/** What is no number (`+Inf`) stays as it is. */
export function scaleBound(text: string, scale: Scale): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? []
  if (sign === undefined || whole + fraction === '') return text
  const power = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction) * BigInt(scale.multiply)
  const [numerator, denominator] = reduced(
    power < 0 ? digits : digits * 10n ** BigInt(power),
    BigInt(scale.divide) * (power < 0 ? 10n ** BigInt(-power) : 1n),
  )
  const isExact = numerator <= Number.MAX_SAFE_INTEGER && denominator <= Number.MAX_SAFE_INTEGER
  const value = isExact ? Number(numerator) / Number(denominator) : applyScale(Math.abs(Number(text)), scale)
  return `${sign}${value}`
}

function reduced(a: bigint, b: bigint): [bigint, bigint] {
  let [common, rest] = [a, b]
  while (rest !== 0n) [common, rest] = [rest, common % rest]
  return [a / common, b / common]
}
