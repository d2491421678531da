/** Regular expressions in test files: RE2, as in Prometheus. */
import { RE2JS } from 're2js'

/** Whether it matches anywhere in a text. Throws an Error with RE2's own words. */
export function findIn(regex: string): (text: string) => boolean {
  const compiled = RE2JS.compile(regex)
  return text => compiled.matcher(text).find()
}
