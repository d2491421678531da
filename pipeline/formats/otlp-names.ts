/** What a destination takes as names and texts. Applied when plans are made, never for a sample. */

export type NameRules = {
  readonly attributeCase: 'keep' | 'lower'
  /** Characters of attribute keys that become underscores; undefined if all may stay. */
  readonly badAttributeCharacters?: RegExp
  readonly badMetricCharacters?: RegExp
  /** Match names that begin with what none may begin with. */
  readonly badAttributeStart?: RegExp
  readonly badMetricStart?: RegExp
  readonly attributeKeyLength: number
  readonly attributeValueLength: number
  readonly metricNameLength: number
  readonly unitLength: number
  readonly descriptionLength: number
}

export const ANY_NAME: NameRules = {
  attributeCase: 'keep',
  attributeKeyLength: Infinity,
  attributeValueLength: Infinity,
  metricNameLength: Infinity,
  unitLength: Infinity,
  descriptionLength: Infinity,
}

export function attributeKey(key: string, rules: NameRules): string {
  const cased = rules.attributeCase === 'lower' ? key.toLowerCase() : key
  const allowed = replaceBad(cased, rules.badAttributeCharacters)
  return cut(withStart(allowed, rules.badAttributeStart), rules.attributeKeyLength)
}

export function metricName(name: string, rules: NameRules): string {
  const allowed = replaceBad(name, rules.badMetricCharacters)
  return cut(withStart(allowed, rules.badMetricStart), rules.metricNameLength)
}

function withStart(name: string, bad: RegExp | undefined): string {
  return bad?.test(name) === true ? `x${name}` : name
}

/** At most so many UTF-16 units, and never half a character. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  const last = text.charCodeAt(length - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length)
}

/** Names that rules made the same are told apart by a number: an attribute that is there twice would cost the point. */
export function distinct(keys: readonly string[], { attributeKeyLength }: NameRules): string[] {
  const taken = new Set<string>()
  return keys.map(key => {
    let free = key
    for (let number = 2; taken.has(free); number++) {
      const suffix = `_${number}`
      free = `${cut(key, attributeKeyLength - suffix.length)}${suffix}`
    }
    taken.add(free)
    return free
  })
}

function replaceBad(text: string, bad: RegExp | undefined): string {
  return bad === undefined ? text : text.replace(bad, '_')
}
