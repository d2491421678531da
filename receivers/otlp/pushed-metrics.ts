/** The metrics of a source of which there are series, by number. They come in the same order each time, so the next is looked at first. */
import type { MetricParts } from '../../pipeline/formats/otlp-points.ts'
import { isSameMetric, type PushedMetric } from './pushed-metric.ts'

/** Of a metric, descriptions that are told apart; and for each stream, ways to write its attributes. */
export const MAX_VARIANTS = 8

export class PushedMetrics {
  #metrics: PushedMetric[] = []
  #numbersByName = new Map<string, number[]>()
  #expected = 0

  at(number: number): PushedMetric {
    return this.#metrics[number]!
  }

  /** -1 if there is none. */
  find(parts: MetricParts): number {
    const expected = this.#metrics[this.#expected]
    if (expected !== undefined && isSameMetric(expected, parts)) return this.#expected++
    const number = this.#numbersByName.get(parts.name)?.find(known => isSameMetric(this.#metrics[known]!, parts)) ?? -1
    if (number >= 0) this.#expected = number + 1
    return number
  }

  /** The number of this very metric, or -1. */
  numberOf(metric: PushedMetric): number {
    return this.#numbersByName.get(metric.name)?.find(known => this.#metrics[known] === metric) ?? -1
  }

  /** The number that a metric has from now on; -1 if it comes in too many different ways. */
  add(metric: PushedMetric): number {
    const known = this.numberOf(metric)
    const numbers = this.#numbersByName.get(metric.name) ?? []
    if (known >= 0 || numbers.length >= MAX_VARIANTS) return known
    const number = this.#metrics.push(metric) - 1
    this.#numbersByName.set(metric.name, [...numbers, number])
    this.#expected = number + 1
    return number
  }

  expectFirst(): void {
    this.#expected = 0
  }

  /** Keeps those that are in use, and says which numbers they have now; -1 are gone. */
  compact(used: readonly number[]): Int32Array {
    const numbers = new Int32Array(this.#metrics.length).fill(-1)
    const metrics: PushedMetric[] = []
    for (const number of used) {
      if (number >= 0 && numbers[number]! < 0) numbers[number] = metrics.push(this.#metrics[number]!) - 1
    }
    this.#metrics = metrics
    this.#numbersByName = new Map()
    metrics.forEach(({ name }, number) => {
      this.#numbersByName.set(name, [...(this.#numbersByName.get(name) ?? []), number])
    })
    this.#expected = 0
    return numbers
  }
}
