/** The ways that series take from gpucol to Prometheus, what makes them comparable, and what came by each. */
import { get } from '../../support/gpucol-process.ts'

/** Formats that Prometheus is told to scrape in, by its own words. */
export const SCRAPED_WAYS = {
  'text 0.0.4': 'PrometheusText0.0.4',
  'text 1.0.0': 'PrometheusText1.0.0',
  'OpenMetrics 0.0.1': 'OpenMetricsText0.0.1',
  'OpenMetrics 1.0.0': 'OpenMetricsText1.0.0',
} as const
export const PUSHED_WAYS = ['OTLP', 'remote write 1', 'remote write 2'] as const
export type Way = keyof typeof SCRAPED_WAYS | (typeof PUSHED_WAYS)[number]
export const WAYS = [...Object.keys(SCRAPED_WAYS), ...PUSHED_WAYS] as readonly Way[]

/** Those that cannot carry names of any kind, or are told not to. */
const ESCAPED_WAYS: ReadonlySet<Way> = new Set(['text 0.0.4', 'OpenMetrics 0.0.1', 'remote write 1'])

/**
 * OTLP has no series without `service.name` and `service.instance.id`: where a series has no job or no instance, they name gpucol and
 * the component that made it (`exporters/README.md`).
 */
const MADE_HERE = { job: new Set(['gpucol']), instance: new Set(['roll_up', 'kubernetes_api']) }

type Labels = Readonly<Record<string, string>>
type Answer<T> = { readonly data: { readonly result: readonly ({ readonly metric: Labels } & T)[] } }

/** What is live at a moment, with its value. */
export async function liveSeries(base: string, way: Way, timeS: number): Promise<Map<string, string>> {
  const { data } = await query<{ value: [number, string] }>(base, selectorOf(way), timeS)
  return new Map(data.result.map(({ metric, value }) => [seriesText(metric, way), value[1]]))
}

/** All samples of some seconds up to a moment: values by time. */
export async function samplesOf(
  base: string,
  way: Way,
  timeS: number,
  rangeS: number,
): Promise<Map<string, Map<number, string>>> {
  const { data } = await query<{ values: [number, string][] }>(base, `${selectorOf(way)}[${rangeS}s]`, timeS)
  return new Map(data.result.map(({ metric, values }) => [seriesText(metric, way), new Map(values)]))
}

async function query<T>(base: string, expression: string, timeS: number): Promise<Answer<T>> {
  const parameters = new URLSearchParams({ query: expression, time: timeS.toFixed(3) })
  return JSON.parse(await get(`${base}/api/v1/query?${parameters.toString()}`)) as Answer<T>
}

/** Prometheus' series about its own scrapes have the way's name as their job. */
function selectorOf(way: Way): string {
  return `{__name__!="",way=${JSON.stringify(way === 'OTLP' ? '' : way)},job!~"way .*"}`
}

/** The way that others are compared with: it has every sample, and every name as it is. */
export const REFERENCE: Way = 'remote write 2'

/** A series may end, or begin, so much later in a way that is scraped. */
const SCRAPE_S = 3

/** What is live at a moment in one way and not in another, or has another value. */
export async function differencesAt(base: string, timeS: number): Promise<string[]> {
  const expected = await liveSeries(base, REFERENCE, timeS)
  const before = await liveSeries(base, REFERENCE, timeS - SCRAPE_S)
  const after = await liveSeries(base, REFERENCE, timeS + SCRAPE_S)
  const meanwhile = await samplesOf(base, REFERENCE, timeS + SCRAPE_S, 2 * SCRAPE_S)
  const differences: string[] = []
  for (const way of WAYS) {
    const found = await liveSeries(base, way, timeS)
    const isScraped = way in SCRAPED_WAYS
    const there = keyedFor(way, expected)
    const wasThere = keyedFor(way, before)
    const staysThere = keyedFor(way, after)
    const shortly = keyedFor(way, meanwhile)
    for (const [series, value] of there) {
      const isSteady = wasThere.has(series) && staysThere.has(series)
      if (isScraped ? isSteady && !found.has(series) : found.get(series) !== value) {
        differences.push(`${way}: ${series} is ${found.get(series)}, not ${value}`)
      }
    }
    for (const series of found.keys()) {
      const isChanging = wasThere.has(series) || staysThere.has(series) || shortly.has(series)
      if (!there.has(series) && !(isScraped && isChanging)) differences.push(`${way}: ${series} should not be there`)
    }
  }
  return differences
}

/**
 * Samples of one way that another does not have as they are. What is pushed has them all; what is scraped has those that were there when
 * somebody looked, of every series that was there for some time.
 */
export async function differentSamples(base: string, timeS: number, rangeS: number): Promise<string[]> {
  const expected = await samplesOf(base, REFERENCE, timeS, rangeS)
  const differences: string[] = []
  for (const way of WAYS) {
    const all = await samplesOf(base, way, timeS, rangeS)
    const there = keyedFor(way, expected)
    const needed = way in SCRAPED_WAYS ? 5 * SCRAPE_S : 1
    for (const [series, samples] of there) {
      const found = all.get(series) ?? new Map<number, string>()
      if (found.size === 0 && samples.size >= needed) differences.push(`${way}: ${series} is missing`)
      if (!(way in SCRAPED_WAYS) && found.size < samples.size) differences.push(`${way}: ${series} lacks samples`)
      for (const [at, value] of found) {
        if (samples.get(at) !== value)
          differences.push(`${way}: ${series} at ${at} is ${value}, not ${samples.get(at)}`)
      }
    }
    for (const series of all.keys()) if (!there.has(series)) differences.push(`${way}: ${series} should not be there`)
  }
  return differences
}

/** By the names that series have in a way. */
function keyedFor<T>(way: Way, bySeries: Map<string, T>): Map<string, T> {
  if (!ESCAPED_WAYS.has(way)) return bySeries
  return new Map(Array.from(bySeries, ([series, one]) => [escaped(series), one]))
}

function escaped(series: string): string {
  const pairs = JSON.parse(series) as Pair[]
  return JSON.stringify(pairs.map(([name, value]) => [plain(name), name === '__name__' ? plain(value) : value]))
}

function plain(name: string): string {
  return name.replaceAll(/[^\w:]/g, '_')
}

type Pair = readonly [name: string, value: string]

function seriesText(metric: Labels, way: Way): string {
  const isOurs = (name: string, value: string): boolean =>
    way === 'OTLP' && (name === 'job' || name === 'instance') && MADE_HERE[name].has(value)
  const pairs = Object.entries(metric)
    .filter(([name, value]) => name !== 'way' && !isOurs(name, value))
    .map(([name, value]): Pair => [name, isNumber(name) ? `${Number(value.replace('Inf', 'Infinity'))}` : value])
  return JSON.stringify(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Prometheus 3 writes these in one spelling when it scrapes, `1` as `1.0`, and leaves them as they are where they are pushed. */
function isNumber(name: string): boolean {
  return name === 'le' || name === 'quantile'
}
