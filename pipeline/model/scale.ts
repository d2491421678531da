/**
 * Exact factors between units. A column carries its factor as a fraction and nobody multiplies before it must be, so that
 * a 29 % that becomes a ratio and a percentage again is 29, not 28.999999999999996.
 */

/** The fraction multiply/divide in lowest terms; interned, so `===` compares. */
export type Scale = { readonly multiply: number; readonly divide: number }

const scales = new Map<string, Scale>()

export const ONE: Scale = scaleOf(1, 1)

/** Both parts are whole numbers above zero; anything else, or a fraction too large to be exact, is a RangeError. */
export function scaleOf(multiply: number, divide = 1): Scale {
  if (!Number.isSafeInteger(multiply) || !Number.isSafeInteger(divide) || multiply <= 0 || divide <= 0) {
    throw new RangeError(`a scale is a fraction of whole numbers above zero, not ${multiply}/${divide}`)
  }
  const common = greatestCommonDivisor(multiply, divide)
  const key = `${multiply / common}/${divide / common}`
  let scale = scales.get(key)
  if (scale === undefined) {
    scale = Object.freeze({ multiply: multiply / common, divide: divide / common })
    scales.set(key, scale)
  }
  return scale
}

/** First one, then the other. */
export function combine(first: Scale, second: Scale): Scale {
  if (first === ONE) return second
  if (second === ONE) return first
  // Crosswise reduction keeps the products as small as they can be.
  const a = scaleOf(first.multiply, second.divide)
  const b = scaleOf(second.multiply, first.divide)
  return scaleOf(a.multiply * b.multiply, a.divide * b.divide)
}

export function inverse(scale: Scale): Scale {
  return scaleOf(scale.divide, scale.multiply)
}

export function applyScale(value: number, scale: Scale): number {
  return scale === ONE ? value : scaledBy(value, scale.multiply, scale.divide)
}

/** What is to be rounded off must be much less than half of the last place: an eighth of what fits into a double is left for it. */
const MOST = 2 ** 50

/** Numbers of so many places are what people and exporters write, the larger they are the fewer. */
function placesOf(scaled: number): number {
  const size = Math.abs(scaled)
  return size < MOST / 1e6 ? 1e6 : size < MOST / 1e3 ? 1e3 : 1
}

/**
 * The double next to 0.29, a hundred times, is 28.999999999999996. Where a number of few places leads back to the very value, as 29 does
 * here, the value was made of that.
 */
export function scaledBy(value: number, multiply: number, divide: number): number {
  const scaled = (value * multiply) / divide
  const places = placesOf(scaled)
  const short = Math.round(scaled * places) / places
  return short !== scaled && (short * divide) / multiply === value ? short : scaled
}

function greatestCommonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}
