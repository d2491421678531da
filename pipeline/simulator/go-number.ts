/** Numbers as Go programs print them: what stands in the text of exporters written in Go. */

/** `%f`: six decimals, never an exponent. */
export function formatFixed(value: number): string {
  return value.toFixed(6)
}

/** The shortest digits that read back as the same number, with an exponent from 1e+06 on and below 1e-04. */
export function formatShortest(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return plain(value)
  const [digits, exponent] = value.toExponential().split('e') as [string, string]
  const sign = exponent[0]!
  return `${digits}e${sign}${exponent.slice(1).padStart(2, '0')}`
}

// JavaScript writes 0.00001 as 1e-5, but nothing from 1e-4 up to 1e21 with an exponent.
function plain(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** The same as `formatShortest(units / 10 ** decimals)` for a whole number that is not negative, without the way through a fraction. */
export function formatDecimal(units: number, decimals: number): string {
  const text = String(units)
  const exponent = text.length - 1 - decimals
  if (exponent < 6) return formatShortest(units / 10 ** decimals)
  let end = text.length
  while (end > 1 && text.charCodeAt(end - 1) === 48) end--
  const fraction = end > 1 ? `.${text.slice(1, end)}` : ''
  return `${text[0]}${fraction}e+${exponent < 10 ? '0' : ''}${exponent}`
}
