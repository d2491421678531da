/** Regular expressions in test files: RE2, as in Prometheus. Both throw an Error with RE2's own words. */
import { RE2JS } from 're2js'
import { compileRegex } from '../relabel/regex.ts'

/** Whether it matches a whole text. */
export function matchWhole(regex: string): (text: string) => boolean {
  // First as it was written, so that an error quotes that and not what is made of it.
  RE2JS.compile(regex)
  return compileRegex(regex).matches
}

/** Whether it matches anywhere in a text. */
export function findIn(regex: string): (text: string) => boolean {
  const compiled = RE2JS.compile(regex)
  return text => compiled.matcher(text).find()
}
