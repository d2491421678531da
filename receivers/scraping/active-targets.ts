/** The targets that are scraped, found by what they are. Nearly all have a URL of their own; those of one URL are linked. */
import type { Scheduled } from './scheduler.ts'
import { isSameTarget, type TargetSpec } from './target-spec.ts'
import type { Target } from './target.ts'

export type ActiveTarget = {
  readonly spec: TargetSpec
  readonly target: Target
  readonly scheduled: Scheduled
  /** With the same URL. */
  next: ActiveTarget | undefined
}

export class ActiveTargets {
  count = 0
  readonly #byUrl = new Map<string, ActiveTarget>()

  find(spec: TargetSpec): ActiveTarget | undefined {
    let one = this.#byUrl.get(spec.url)
    while (one !== undefined && !isSameTarget(one.spec, spec)) one = one.next
    return one
  }

  add(spec: TargetSpec, target: Target, scheduled: Scheduled): void {
    const added: ActiveTarget = { spec, target, scheduled, next: undefined }
    let last = this.#byUrl.get(spec.url)
    if (last === undefined) this.#byUrl.set(spec.url, added)
    else {
      while (last.next !== undefined) last = last.next
      last.next = added
    }
    this.count++
  }

  /** One of them. May be called while going through all. */
  remove(gone: ActiveTarget): void {
    const { url } = gone.spec
    const first = this.#byUrl.get(url)!
    this.count--
    if (first === gone) {
      if (gone.next === undefined) this.#byUrl.delete(url)
      else this.#byUrl.set(url, gone.next)
      return
    }
    let before = first
    while (before.next !== gone) before = before.next!
    before.next = gone.next
  }

  /** Not by `all`, since it is asked at every roll-up: what a generator makes for each target would be garbage. */
  areAll(isSo: (target: Target) => boolean): boolean {
    for (const first of this.#byUrl.values()) {
      for (let one: ActiveTarget | undefined = first; one !== undefined; one = one.next) {
        if (!isSo(one.target)) return false
      }
    }
    return true
  }

  *all(): Generator<ActiveTarget> {
    for (const first of this.#byUrl.values()) {
      for (let one: ActiveTarget | undefined = first; one !== undefined; one = one.next) yield one
    }
  }
}
