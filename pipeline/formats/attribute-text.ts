/** Values of attributes as labels have them. */
import type { AttributeValue } from '../model/origin.ts'

/**
 * As Prometheus and the Collector write it: texts as they are, numbers in decimals, `true` and `false`, bytes in base64, lists and maps
 * as JSON (keys sorted, what HTML might read escaped, as Go does); nothing is the empty text, which is no label.
 */
export function attributeText(value: AttributeValue): string {
  if (typeof value === 'string') return value
  if (value === null) return ''
  if (typeof value !== 'object') return Object.is(value, -0) ? '-0' : String(value)
  if (value instanceof Uint8Array) return base64(value)
  return jsonText(value).replace(/[<>&\u2028\u2029]/g, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function jsonText(value: AttributeValue): string {
  if (typeof value === 'bigint') return String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (value instanceof Uint8Array) return JSON.stringify(base64(value))
  if (Array.isArray(value)) return `[${(value as readonly AttributeValue[]).map(jsonText).join(',')}]`
  const pairs = Object.entries(value as Readonly<Record<string, AttributeValue>>)
  const sorted = pairs.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${sorted.map(([key, one]) => `${JSON.stringify(key)}:${jsonText(one)}`).join(',')}}`
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}
