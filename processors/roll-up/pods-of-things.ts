/** Which pod a container, or a reading of a pod, is of: worked out for those that came, and for those of pods that have changed. */
import { EMPTY_LABELS, type Labels } from '../../pipeline/model/labels.ts'
import { podKey, type PodChange, type PodRecord } from './pod-records.ts'
import type { Things } from './things.ts'

type PodOf = (labels: Labels) => PodRecord | undefined

export class PodsOfThings {
  /** By number of the thing. */
  readonly pods: (PodRecord | undefined)[] = []
  readonly #things: Things
  readonly #podOf: PodOf
  readonly #labels: Labels[] = []
  readonly #texts: string[] = []
  /** By the way in which series name a pod, its uid or its name: numbers. */
  readonly #numbers = new Map<string, Set<number>>()
  #version = -1

  /** The first line of a thing's key is how it names its pod. */
  constructor(things: Things, podOf: PodOf) {
    this.#things = things
    this.#podOf = podOf
  }

  /** Numbers whose pod is another. */
  refresh(changes: readonly PodChange[]): ReadonlySet<number> {
    const changed = new Set<number>()
    if (this.#version !== this.#things.version) this.#follow(changed)
    for (const { before, now } of changes) {
      const { pod } = (now ?? before)!
      for (const text of new Set([podKey(pod), pod.uid, `${pod.namespace}/${pod.name}`])) {
        for (const number of this.#numbers.get(text) ?? []) this.#find(number, changed)
      }
    }
    return changed
  }

  #follow(changed: Set<number>): void {
    this.#version = this.#things.version
    for (let number = 0; number < this.#things.length; number++) {
      const labels = this.#things.labelsOf(number)
      if (labels === (this.#labels[number] ?? EMPTY_LABELS)) continue
      this.#forget(number)
      this.#labels[number] = labels
      if (labels !== EMPTY_LABELS) this.#learn(number)
      this.#find(number, changed)
    }
  }

  #forget(number: number): void {
    const text = this.#texts[number] ?? ''
    const numbers = this.#numbers.get(text)
    numbers?.delete(number)
    if (numbers?.size === 0) this.#numbers.delete(text)
    this.#texts[number] = ''
  }

  #learn(number: number): void {
    const [text] = this.#things.keyOf(number).split('\n') as [string]
    this.#texts[number] = text
    const numbers = this.#numbers.get(text)
    if (numbers === undefined) this.#numbers.set(text, new Set([number]))
    else numbers.add(number)
  }

  #find(number: number, changed: Set<number>): void {
    const labels = this.#labels[number]!
    const pod = labels === EMPTY_LABELS ? undefined : this.#podOf(labels)
    if (pod === this.pods[number]) return
    this.pods[number] = pod
    changed.add(number)
  }
}
