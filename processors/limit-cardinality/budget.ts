/** How many series there may be, of each metric and in all, and how many there are. */
import type { Log } from '../../pipeline/component.ts'

/** Infinity is no limit. */
export type Limits = {
  readonly total: number
  readonly perMetric: number
  /** By the name of the family. */
  readonly ofMetric: ReadonlyMap<string, number>
}

/** The series of one family: those that are let through, and those that are over a limit. */
export type Group = { readonly name: string; readonly limit: number; used: number; over: number }

export class Budget {
  used = 0
  readonly groups = new Map<string, Group>()
  readonly #limits: Limits

  constructor(limits: Limits) {
    this.#limits = limits
  }

  group(name: string): Group {
    let group = this.groups.get(name)
    if (group === undefined) {
      const { ofMetric, perMetric } = this.#limits
      // OpenMetrics calls the family of a counter by its name without the ending.
      const limit = ofMetric.get(name) ?? ofMetric.get(`${name}_total`) ?? perMetric
      group = { name, limit, used: 0, over: 0 }
      this.groups.set(name, group)
    }
    return group
  }

  /** Takes room for series that belong together, for all of them or for none. */
  take(group: Group, size: number): boolean {
    const fits = group.used + size <= group.limit && this.used + size <= this.#limits.total
    this.put(group, fits, size)
    return fits
  }

  /** Gives back by a negative size. */
  put(group: Group, isIn: boolean, size: number): void {
    if (isIn) {
      group.used += size
      this.used += size
    } else group.over += size
  }

  /** Says of each metric once that it is over a limit, and once that it is not any more; those without series are forgotten. */
  report(log: Log): void {
    for (const [name, { limit, used, over }] of this.groups) {
      if (over > 0) log.state(name, 'failing', this.#reason(limit, used, over))
      else log.state(name, used > 0 ? 'ok' : 'gone')
      if (used === 0 && over === 0) this.groups.delete(name)
    }
  }

  #reason(limit: number, used: number, over: number): string {
    const series = `${over} series are too many`
    return used + over > limit
      ? `${series}: ${limit} of this metric are allowed`
      : `${series}: ${this.#limits.total} in all are allowed`
  }
}
