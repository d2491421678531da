/** What the samples of one histogram of OpenMetrics must be among themselves. */
import { readNumber, type StrictSample } from './openmetrics-syntax.ts'

export type HistogramCheck = {
  sample(group: string, part: string, sample: StrictSample): string | undefined
  end(): string | undefined
}

/** Takes the samples of a family; those of one group and moment make a histogram. */
export function createHistogramCheck(): HistogramCheck {
  let key: string | undefined
  let bound: number | undefined
  let inBuckets: number | undefined
  let count: number | undefined
  let sum: number | undefined
  let isGauge = false
  let hasNegativeBounds = false

  function endOne(): string | undefined {
    if (key === undefined) return undefined
    if (bound !== Infinity) return 'a histogram needs a bucket with le="+Inf"'
    if (count !== undefined && count !== inBuckets) return 'the count of a histogram is not that of its last bucket'
    if (sum !== undefined && count === undefined) return 'a histogram with a sum needs a count'
    if (sum === undefined && count !== undefined) return 'a histogram with a count needs a sum'
    if (hasNegativeBounds && sum !== undefined && !isGauge) return 'a histogram with negative buckets has no sum'
    if (!hasNegativeBounds && isGauge && sum! < 0) return 'a histogram without negative buckets has no negative sum'
    return undefined
  }

  return {
    sample(group, part, { labels, value, timestamp }) {
      const sampleKey = `${group} ${timestamp ?? ''}`
      if (sampleKey !== key) {
        const problem = endOne()
        key = sampleKey
        bound = inBuckets = count = sum = undefined
        hasNegativeBounds = false
        if (problem !== undefined) return problem
      }
      if (part === '_bucket') {
        const le = readNumber(labels.get('le')!)!
        if (bound !== undefined && le <= bound) return 'the buckets of a histogram are out of order'
        if (inBuckets !== undefined && value < inBuckets) return 'the buckets of a histogram do not add up'
        if (le < 0) hasNegativeBounds = true
        bound = le
        inBuckets = value
      } else if (part === '_count' || part === '_gcount') count = value
      else if (part === '_sum' || part === '_gsum') {
        sum = value
        isGauge = part === '_gsum'
      }
      return undefined
    },
    end: endOne,
  }
}
