/**
 * Kubernetes quantities: `100m`, `1Gi`, `1e3`, `500k`.
 *
 * A number with one suffix: a power of ten (n u m k M G T P E), a power of two (Ki Mi Gi Ti Pi Ei) or an exponent (e3, E-3). `1E` is
 * exa, `1E3` has an exponent. The result is the number nearest to what is written: 100m is 0.1, not 100 times 0.001.
 */
import { sharedMap } from './shared-map.ts'

const FORM = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE])|([KMGTPE])i|[eE]([+-]?\d+))?$/
const POWERS_OF_TEN: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const POWERS_OF_TWO: Readonly<Record<string, number>> = { K: 10, M: 20, G: 30, T: 40, P: 50, E: 60 }

/** Undefined if it is none. */
export function parseQuantity(quantity: unknown): number | undefined {
  if (typeof quantity === 'number') return Number.isFinite(quantity) ? quantity : undefined
  if (typeof quantity !== 'string') return undefined
  const found = FORM.exec(quantity)
  if (found === null) return undefined
  const [, digits, decimal, binary, exponent] = found
  // Written with an exponent it is rounded once; a multiplication by a power of two does not round.
  if (decimal !== undefined) return Number(`${digits}e${POWERS_OF_TEN[decimal]}`)
  if (binary !== undefined) return Number(digits) * 2 ** POWERS_OF_TWO[binary]!
  return Number(exponent === undefined ? digits : `${digits}e${exponent}`)
}

/** Quantities by resource; what cannot be read is left out. */
export function parseQuantities(quantities: unknown): ReadonlyMap<string, number> {
  const result = new Map<string, number>()
  if (typeof quantities !== 'object' || quantities === null) return result
  for (const [resource, quantity] of Object.entries(quantities)) {
    const amount = parseQuantity(quantity)
    if (amount !== undefined) result.set(resource, amount)
  }
  return sharedMap(result)
}
