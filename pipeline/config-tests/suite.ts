/** A test file that was read and found to be good. */
import type { ConfigProblem } from '../config/config-error.ts'
import type { Finding } from '../config/finding.ts'
import type { Place } from '../config/source.ts'
import type { YamlEntry } from '../config/yaml-source.ts'
import type { Answer } from '../http/virtual-network.ts'
import type { GivenObject } from '../simulator/kubernetes-api/object-identity.ts'
import type { Content } from './content.ts'
import type { ExpectedSample } from './expected-text.ts'
import type { Selector } from '../relabel/selector.ts'

export type Suite = {
  /** The path as it was given. */
  readonly file: string
  readonly tests: readonly ConfigTest[]
  /** Turns what is found in it later into problems that can be shown. */
  describeProblems(findings: readonly Finding[]): ConfigProblem[]
}

export type ConfigTest = {
  readonly name: string
  readonly place: Place
  readonly startMs: number
  readonly subject: Subject
  readonly steps: readonly Step[]
}

/** What is tested: a whole config, or processors alone. */
export type Subject =
  | { readonly kind: 'config'; readonly files: YamlEntry; readonly set: YamlEntry | undefined }
  | { readonly kind: 'processors'; readonly processors: YamlEntry }

export type Step = {
  /** As the file has it. */
  readonly at: string
  readonly atMs: number
  readonly answers: readonly { readonly url: string; readonly answer: Answer; readonly place: Place }[]
  readonly objects?: readonly GivenObject[]
  readonly objectsPlace?: Place
  /** Prometheus text for the first processor. */
  readonly input?: Uint8Array
  readonly expect: readonly Expectation[]
}

export type Expectation = {
  readonly place: Place
  /** Narrows it to what one exporter has. */
  readonly exporter?: { readonly id: string; readonly place: Place }
} & ExpectationKind

export type ExpectationKind =
  | {
      readonly kind: 'series'
      isMeant(name: string): boolean
      readonly samples: readonly ExpectedSample[]
      readonly content: Content
      readonly tolerance: number
    }
  | { readonly kind: 'absent'; readonly selector: Selector }
  | {
      readonly kind: 'present'
      readonly selector: Selector
      readonly value: number | undefined
      readonly tolerance: number
    }
  | { readonly kind: 'log'; readonly text: string; matches(line: string): boolean }
