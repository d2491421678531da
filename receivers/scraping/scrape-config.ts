/** The keys that all pulling receivers have, and what is made of them. */
import type { Clock, ConfigOf, Problem } from '../../pipeline/component.ts'
import {
  authorization,
  basicAuth,
  duration,
  headers,
  labels,
  parseDuration,
  parseSize,
  size,
  tls,
  url,
} from '../../pipeline/config/fields.ts'
import { createCredentials } from './credentials.ts'
import type { TargetOptions } from './target.ts'

export const scrapeFields = {
  static_targets: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    description:
      'URLs to scrape. A bare host:port or host gets the scheme, port and path that are usual for the receiver.',
  },
  labels: { ...labels, description: 'Labels that every target has besides job and instance.' },
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
  strict: {
    type: 'boolean',
    default: false,
    description:
      'Take OpenMetrics to the letter: one mistake fails the scrape. Otherwise a bad line is skipped and counted.',
  },
  params: {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: 'Parameters to add to the URL of every target.',
  },
  headers,
  basic_auth: basicAuth,
  authorization,
  tls,
  proxy_url: url('Proxy to go through.'),
  follow_redirects: { type: 'boolean', default: true, description: 'Go where a target redirects to.' },
  enable_compression: {
    type: 'boolean',
    default: false,
    description:
      'Ask targets for compressed bodies. Unpacking costs several times what the rest of a scrape does: worth it on slow links.',
  },
  body_size_limit: size('A larger body, uncompressed, is a failed scrape.', '256MiB'),
  sample_limit: limit('More samples in one scrape fail it.', 2_000_000),
  label_limit: limit('A series with more labels, its name included, fails the scrape.', 0),
  label_name_length_limit: limit('A longer label name, in bytes, fails the scrape.', 0),
  label_value_length_limit: limit('A longer label value or metric name, in bytes, fails the scrape.', 0),
} as const

function limit<const D extends number>(description: string, value: D) {
  return { type: 'integer', minimum: 0, default: value, description: `${description} 0 is no limit.` } as const
}

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
  if (config.basic_auth !== undefined && config.authorization !== undefined) {
    problems.push({ path: ['authorization'], message: 'there is basic_auth already: a request has one of the two' })
  }
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

/** What all targets of a receiver have in common. */
export function targetOptions(
  config: ScrapeConfig,
  clock: Clock,
): Omit<TargetOptions, 'url' | 'labels' | 'fallback' | 'emptyIsFailure'> {
  const ownHeaders = Object.entries(config.headers ?? {})
  return {
    timeoutMs: timeoutOf(config),
    honorLabels: config.honor_labels,
    honorTimestamps: config.honor_timestamps,
    headers: Object.fromEntries(ownHeaders.map(([name, value]) => [name.toLowerCase(), value])),
    credentials: createCredentials(config, clock),
    ...(config.proxy_url !== undefined && { proxyUrl: config.proxy_url }),
    followRedirects: config.follow_redirects,
    compressed: config.enable_compression,
    strict: config.strict,
    bodyLimitBytes: parseSize(config.body_size_limit),
    limits: {
      samples: config.sample_limit,
      labels: config.label_limit,
      labelNameBytes: config.label_name_length_limit,
      labelValueBytes: config.label_value_length_limit,
    },
  }
}
