/**
 * The rules of OpenMetrics that go beyond single lines: families and groups stand together, are described once and before their
 * samples, and their values can be. Only for targets that are read strictly.
 */
import { createHistogramCheck, type HistogramCheck } from './openmetrics-histogram.ts'
import { readNumber, readStrictLine, type StrictSample } from './openmetrics-syntax.ts'

/** Every suffix that samples of a type have, the empty one for the name itself. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: ['_total', '_created'],
  gauge: [''],
  histogram: ['_count', '_sum', '_bucket', '_created'],
  gaugehistogram: ['_gcount', '_gsum', '_bucket'],
  summary: ['', '_count', '_sum', '_created'],
  info: ['_info'],
  stateset: [''],
  unknown: [''],
}

/** Takes the lines of one exposition. Each call returns what is wrong, or undefined. */
export type OpenMetricsCheck = { line(text: string): string | undefined; end(): string | undefined }

export function createOpenMetricsCheck(): OpenMetricsCheck {
  const names = new Set<string>()
  let family: Family | undefined
  let ended = false

  function endFamily(): string | undefined {
    const problem = family?.problemAtEnd(names)
    family = undefined
    return problem
  }

  return {
    line(text) {
      if (ended) return 'there is something after # EOF'
      const line = readStrictLine(text)
      if (line.kind === 'bad') return line.problem
      if (line.kind === 'eof') {
        ended = true
        return endFamily()
      }
      if (line.kind === 'sample') {
        let problem: string | undefined
        if (family === undefined || !family.has(line.name)) {
          problem = endFamily()
          family = new Family(line.name)
        }
        return problem ?? family.sample(line)
      }
      let problem: string | undefined
      if (family?.name !== line.name) {
        problem = endFamily()
        family = new Family(line.name)
      }
      return problem ?? family.describe(line.kind, line.text)
    },
    end: () => (ended ? undefined : '# EOF is missing'),
  }
}

class Family {
  readonly name: string
  #type: string | undefined
  #described = new Set<string>()
  #unit = ''
  #hasSamples = false
  #groups = new Set<string>()
  #group: string | undefined
  #groupTime: number | undefined
  #histogram: HistogramCheck | undefined

  constructor(name: string) {
    this.name = name
  }

  has(sampleName: string): boolean {
    return SUFFIXES[this.#type ?? 'unknown']!.some(suffix => sampleName === this.name + suffix)
  }

  describe(kind: 'HELP' | 'TYPE' | 'UNIT', text: string): string | undefined {
    if (this.#hasSamples) return `${kind} comes after samples of "${this.name}"`
    if (this.#described.has(kind)) return `"${this.name}" has more than one ${kind}`
    this.#described.add(kind)
    if (kind === 'UNIT') this.#unit = text
    if (kind !== 'TYPE') return undefined
    if (!Object.hasOwn(SUFFIXES, text)) return `"${text}" is not a metric type`
    this.#type = text
    if (text === 'histogram' || text === 'gaugehistogram') this.#histogram = createHistogramCheck()
    return undefined
  }

  sample(sample: StrictSample): string | undefined {
    this.#hasSamples = true
    const part = sample.name.slice(this.name.length)
    return (
      this.#labelProblem(sample, part) ??
      this.#groupProblem(sample, part) ??
      this.#valueProblem(sample, part) ??
      this.#histogram?.sample(this.#group!, part, sample)
    )
  }

  problemAtEnd(names: Set<string>): string | undefined {
    for (const suffix of new Set([...SUFFIXES[this.#type ?? 'unknown']!, ''])) {
      if (names.has(this.name + suffix)) return `"${this.name + suffix}" belongs to two families`
      names.add(this.name + suffix)
    }
    if (this.#unit !== '') {
      if (!this.name.endsWith(`_${this.#unit}`)) return `"${this.name}" does not end in its unit "${this.#unit}"`
      if (this.#type === 'info' || this.#type === 'stateset') return `a ${this.#type} has no unit`
    }
    return this.#histogram?.end()
  }

  #labelProblem({ labels, hasExemplar }: StrictSample, part: string): string | undefined {
    const type = this.#type
    if (type === 'stateset' && !labels.has(this.name)) return `a sample of a stateset needs the label "${this.name}"`
    if (part === '_bucket') {
      const bound = labels.get('le')
      const number = bound === undefined ? undefined : readNumber(bound)
      if (number === undefined || Number.isNaN(number)) return 'a bucket needs a number in the label "le"'
      if (number === Infinity && bound !== '+Inf') return 'the last bucket has le="+Inf"'
    }
    if (type === 'summary' && part === '') {
      const quantile = readNumber(labels.get('quantile') ?? '')
      if (quantile === undefined || !(quantile >= 0 && quantile <= 1)) {
        return 'a sample of a summary needs a number from 0 to 1 in the label "quantile"'
      }
    }
    const mayHaveExemplar =
      (part === '_bucket' && this.#histogram !== undefined) || (part === '_total' && type === 'counter')
    if (hasExemplar && !mayHaveExemplar) return 'only counters and buckets have exemplars'
    return undefined
  }

  /** Samples with the same labels, but for those that tell the parts of a metric apart, stand together and in order of time. */
  #groupProblem({ labels, timestamp }: StrictSample, part: string): string | undefined {
    const apart = part === '_bucket' ? 'le' : this.#type === 'summary' && part === '' ? 'quantile' : this.name
    const ofGroup = this.#type === 'info' ? [] : [...labels].filter(([name]) => name !== apart || !this.#isApart(apart))
    const group = JSON.stringify(ofGroup.sort(([a], [b]) => (a < b ? -1 : 1)))
    if (group !== this.#group) {
      if (this.#groups.has(group)) return 'samples of one metric do not stand together'
      this.#groups.add(group)
      this.#group = group
    } else {
      if ((timestamp === undefined) !== (this.#groupTime === undefined))
        return 'some samples of a metric have timestamps'
      if (timestamp !== undefined && timestamp < this.#groupTime! && this.#type !== 'info') {
        return 'the timestamps of a metric go backwards'
      }
    }
    this.#groupTime = timestamp
    return undefined
  }

  #isApart(label: string): boolean {
    return label !== this.name || this.#type === 'stateset'
  }

  #valueProblem({ value }: StrictSample, part: string): string | undefined {
    if (this.#type === 'stateset' && value !== 0 && value !== 1) return 'a stateset is 0 or 1'
    if (this.#type === 'info' && value !== 1) return 'an info is 1'
    if (this.#type === 'summary' && part === '' && value < 0) return 'a quantile is not negative'
    if (part === '' || part === '_created' || part === '_info') return undefined
    if ((part === '_bucket' || part === '_count' || part === '_gcount') && !Number.isInteger(value)) {
      return 'a count is a whole number'
    }
    if (Number.isNaN(value)) return 'a counter is a number'
    return value < 0 && part !== '_gsum' ? 'a counter is not negative' : undefined
  }
}
