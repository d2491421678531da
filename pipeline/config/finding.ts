/** A problem where it was found: with its place, before its line is shown to anybody. */
import type { Place } from './source.ts'

export type Finding = {
  readonly place: Place
  /** Quotes no value of a secret. */
  readonly message: string
  readonly suggestion?: string | undefined
  readonly severity?: 'error' | 'warning'
  /** It is about the YAML itself: what the tree says about that file may not be all that is in it. */
  readonly isAboutYaml?: true
}
