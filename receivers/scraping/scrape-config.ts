/** The keys that all pulling receivers have, and what is made of them. */
import type { ConfigOf, Problem } from '../../pipeline/component.ts'
import { duration, headers, parseDuration, parseSize, size } from '../../pipeline/config/fields.ts'
import type { TargetOptions } from './target.ts'

export const scrapeFields = {
  static_targets: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    description:
      'URLs to scrape. A bare host:port or host gets the scheme, port and path that are usual for the receiver.',
  },
  scrape_interval: duration('Time from one scrape of a target to the next.', '15s'),
  scrape_timeout: duration(
    'How long a scrape may take, at most the interval. 10s, or the interval if that is shorter, unless set.',
  ),
  honor_labels: {
    type: 'boolean',
    default: true,
    description:
      "Labels of a sample win over those of its target (job, instance). Otherwise the target's win, and the sample's are kept with exported_ in front.",
  },
  honor_timestamps: {
    type: 'boolean',
    default: true,
    description: 'Use the timestamps that a target gives its samples. Otherwise the time of the scrape.',
  },
  headers,
  body_size_limit: size('A larger body, uncompressed, is a failed scrape.', '256MiB'),
} as const

const schema = { type: 'object', properties: scrapeFields, additionalProperties: false } as const
export type ScrapeConfig = ConfigOf<typeof schema>

/** What a bare target lacks. */
export type UrlDefaults = { readonly port: number; readonly path: string }

export function checkScrapeConfig(config: ScrapeConfig, defaults: UrlDefaults): Problem[] {
  const problems: Problem[] = []
  const intervalMs = parseDuration(config.scrape_interval)
  if (intervalMs <= 0) problems.push({ path: ['scrape_interval'], message: 'the interval must be above 0' })
  else if (timeoutOf(config) <= 0) problems.push({ path: ['scrape_timeout'], message: 'the timeout must be above 0' })
  else if (timeoutOf(config) > intervalMs) {
    const message = `the timeout "${config.scrape_timeout}" is longer than the scrape_interval "${config.scrape_interval}"`
    problems.push({ path: ['scrape_timeout'], message })
  }
  config.static_targets.forEach((text, index) => {
    const path = ['static_targets', index]
    if (targetUrl(text, defaults) === undefined) problems.push({ path, message: `"${text}" is not a URL or host:port` })
  })
  return problems
}

/** The URL that a target stands for, or undefined if it stands for none. */
export function targetUrl(text: string, { port, path }: UrlDefaults): URL | undefined {
  const bare = !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)
  const url = URL.parse(bare ? `http://${text}` : text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  if (!bare) return url
  // URL leaves out a port that is the scheme's default, so the text is asked whether it has one.
  if (!/:\d+(\/|$)/.test(text)) url.port = String(port)
  if (url.pathname === '/' && !text.includes('/')) url.pathname = path
  return url
}

/** `host:port`, the port spelt out: the `instance` of a target. */
export function instanceOf(url: URL): string {
  return url.port === '' ? `${url.hostname}:${url.protocol === 'https:' ? 443 : 80}` : url.host
}

const USUAL_TIMEOUT_MS = 10_000

function timeoutOf({ scrape_interval, scrape_timeout }: ScrapeConfig): number {
  if (scrape_timeout !== undefined) return parseDuration(scrape_timeout)
  return Math.min(USUAL_TIMEOUT_MS, parseDuration(scrape_interval))
}

export function targetOptions(config: ScrapeConfig): Omit<TargetOptions, 'url' | 'labels'> {
  return {
    timeoutMs: timeoutOf(config),
    honorLabels: config.honor_labels,
    honorTimestamps: config.honor_timestamps,
    headers: Object.fromEntries(
      Object.entries(config.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    bodyLimitBytes: parseSize(config.body_size_limit),
  }
}
