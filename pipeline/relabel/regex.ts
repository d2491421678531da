/** Regular expressions as Prometheus has them: RE2, matching the whole text, the dot matching line breaks, too. */
import { RE2JS, type Matcher } from 're2js'

export type AnchoredRegex = {
  matches(text: string): boolean
  /** The groups of a match, or undefined without one. */
  match(text: string): Groups | undefined
}

/** A group that took no part in the match is ''. So is one that the expression does not have. */
export type Groups = { byNumber(number: number): string; byName(name: string): string }

/** Throws an Error with RE2's own words. */
export function compileRegex(regex: string): AnchoredRegex {
  const compiled = RE2JS.compile(`^(?s:${regex})$`)
  return {
    matches: text => compiled.matcher(text).find(),
    match(text) {
      const matcher = compiled.matcher(text)
      return matcher.find() ? groupsOf(matcher, compiled.namedGroups()) : undefined
    },
  }
}

/** Whether it matches a whole text. Throws an Error with RE2's own words. */
export function matchWhole(regex: string): (text: string) => boolean {
  // First as it was written, so that an error quotes that and not what is made of it.
  RE2JS.compile(regex)
  return compileRegex(regex).matches
}

function groupsOf(matcher: Matcher, numbersByName: Readonly<Record<string, number>>): Groups {
  const byNumber = (number: number): string => (number <= matcher.groupCount() ? (matcher.group(number) ?? '') : '')
  return {
    byNumber,
    byName: name => (Object.hasOwn(numbersByName, name) ? byNumber(numbersByName[name]!) : ''),
  }
}
