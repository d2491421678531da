/** The keys that all pulling receivers have, and what is made of them. */
import type { ConfigOf, Host, Problem } from '../../pipeline/component.ts'
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
import { ACCEPT } from '../../pipeline/formats/exposition-format.ts'
import { createPlanner } from '../../pipeline/model/planner.ts'
import { relabelSeries } from '../../pipeline/relabel/relabel-series.ts'
import { checkRelabelRules, relabelRules, type RelabelRule } from '../../pipeline/relabel/rule.ts'
import { createCredentials } from '../../pipeline/http/credentials.ts'
import { staticDiscovery, type Discovery } from './discovery/discovery.ts'
import { checkDns, createDnsDiscovery, dns } from './discovery/dns.ts'
import { checkFileSd, createFileDiscovery, fileSd } from './discovery/file-sd.ts'
import { createHttpDiscovery, httpSdFields } from './discovery/http-sd.ts'
import { checkKubernetes, kubernetesDiscoveries, kubernetesFields } from './discovery/kubernetes.ts'
import { targetUrl, type UrlDefaults } from './target-address.ts'
import type { ScrapeOptions } from './target.ts'

export const scrapeFields = {
  static_targets: {
    type: 'array',
    items: { type: 'string', minLength: 1 },
    default: [],
    description:
      'URLs to scrape. A bare host:port or host gets the scheme, port and path that are usual for the receiver.',
  },
  file_sd: fileSd,
  dns: {
    ...dns,
    properties: {
      ...dns.properties,
      // The usual port is known, so the addresses of a name are enough.
      type: { ...dns.properties.type, default: 'A' },
    },
  },
  http_sd: {
    type: 'object',
    properties: {
      ...httpSdFields,
      headers,
      basic_auth: basicAuth,
      authorization,
      tls,
      proxy_url: url('Proxy to go through.'),
    },
    required: ['url'],
    additionalProperties: false,
    description: 'Targets from a URL that answers with target groups in JSON, as those of Prometheus.',
  },
  ...kubernetesFields,
  relabel_configs: {
    ...relabelRules,
    default: [],
    description: 'Rules, as those of Prometheus, that choose targets and give them labels.',
  },
  scheme: {
    type: 'string',
    enum: ['http', 'https'],
    description: 'Scheme of targets that are not written as a URL. What is usual for the receiver unless set.',
  },
  metrics_path: {
    type: 'string',
    description: 'Path of targets that are written without one. What is usual for the receiver unless set.',
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
  metric_relabel_configs: {
    ...relabelRules,
    default: [],
    description: 'Rules, as those of Prometheus, for the series of all targets, before they leave the receiver.',
  },
  body_size_limit: size('A larger body, uncompressed, is a failed scrape. 0 is no limit.', '256MiB'),
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

export function checkScrapeConfig(config: ScrapeConfig, defaults: UrlDefaults): Problem[] {
  const problems: Problem[] = []
  problems.push(...checkTimes(config))
  config.static_targets.forEach((text, index) => {
    const path = ['static_targets', index]
    if (targetUrl(text, defaults) === undefined) problems.push({ path, message: `"${text}" is not a URL or host:port` })
  })
  for (const key of ['relabel_configs', 'metric_relabel_configs'] as const) {
    problems.push(...below([key], checkRelabelRules(config[key])))
  }
  problems.push(...checkDiscovery(config, defaults))
  if (config.basic_auth !== undefined && config.authorization !== undefined) {
    problems.push({ path: ['authorization'], message: 'there is basic_auth already: a request has one of the two' })
  }
  return problems
}

const USUAL_TIMEOUT = '10s'

/** As it is written; the interval where that is shorter than what is usual. */
export function timeoutOf(config: Pick<ScrapeConfig, 'scrape_interval' | 'scrape_timeout'>): string {
  const { scrape_interval, scrape_timeout } = config
  if (scrape_timeout !== undefined) return scrape_timeout
  return parseDuration(scrape_interval) < parseDuration(USUAL_TIMEOUT) ? scrape_interval : USUAL_TIMEOUT
}

export function checkTimes(config: Pick<ScrapeConfig, 'scrape_interval' | 'scrape_timeout'>): Problem[] {
  const intervalMs = parseDuration(config.scrape_interval)
  const timeoutMs = parseDuration(timeoutOf(config))
  if (intervalMs <= 0) return [{ path: ['scrape_interval'], message: 'the interval must be above 0' }]
  if (timeoutMs <= 0) return [{ path: ['scrape_timeout'], message: 'the timeout must be above 0' }]
  if (timeoutMs <= intervalMs) return []
  const message = `the timeout "${config.scrape_timeout}" is longer than the scrape_interval "${config.scrape_interval}"`
  return [{ path: ['scrape_timeout'], message }]
}

function checkDiscovery(config: ScrapeConfig, { port }: UrlDefaults): Problem[] {
  const { file_sd, dns, http_sd } = config
  return [
    ...below(['file_sd'], file_sd ? [...checkFileSd(file_sd), ...checkRefresh(file_sd)] : []),
    ...below(['dns'], dns ? [...checkDns(dns, port), ...checkRefresh(dns)] : []),
    ...below(['http_sd'], http_sd ? checkRefresh(http_sd) : []),
    ...checkKubernetes(config, port),
  ]
}

export function checkRefresh({ refresh_interval }: { readonly refresh_interval: string }): Problem[] {
  if (parseDuration(refresh_interval) > 0) return []
  return [{ path: ['refresh_interval'], message: 'the interval must be above 0' }]
}

/** Problems of a part of a config as problems of the whole. */
export function below(path: Problem['path'], problems: readonly Problem[]): Problem[] {
  return problems.map(problem => ({ ...problem, path: [...path, ...problem.path] }))
}

/** Whether anything in a config says where targets are. */
export function hasTargets(config: Partial<ScrapeConfig>): boolean {
  const { static_targets = [], file_sd, dns, http_sd, ...others } = config
  const keys = Object.keys(kubernetesFields) as (keyof typeof kubernetesFields)[]
  return static_targets.length > 0 || Boolean(file_sd ?? dns ?? http_sd) || keys.some(key => others[key] !== undefined)
}

export function discoveriesOf(config: ScrapeConfig, host: Host): Discovery[] {
  const { static_targets, file_sd, dns, http_sd } = config
  return [
    staticDiscovery(() => static_targets.map(target => ({ labels: new Map([['__address__', target]]) }))),
    ...(file_sd ? [createFileDiscovery(file_sd, host)] : []),
    ...(dns ? [createDnsDiscovery(dns, host)] : []),
    ...(http_sd
      ? [
          createHttpDiscovery(
            {
              url: http_sd.url,
              refreshMs: parseDuration(http_sd.refresh_interval),
              headers: lowerCaseNames(http_sd.headers),
              credentials: createCredentials(http_sd, host.clock),
              ...(http_sd.proxy_url !== undefined && { proxyUrl: http_sd.proxy_url }),
              followRedirects: true,
            },
            host,
          ),
        ]
      : []),
    ...kubernetesDiscoveries(config, host),
  ]
}

/** What all targets of a receiver have in common. `rules` are the receiver's own, and come first. */
export function scrapeOptions(
  config: ScrapeConfig,
  { clock }: Pick<Host, 'clock'>,
  rules: readonly RelabelRule[] = [],
): Omit<ScrapeOptions, 'fallback' | 'emptyIsFailure'> {
  const allRules = [...rules, ...config.metric_relabel_configs]
  return {
    honorLabels: config.honor_labels,
    honorTimestamps: config.honor_timestamps,
    headers: lowerCaseNames(config.headers),
    accept: ACCEPT,
    credentials: createCredentials(config, clock),
    ...(config.proxy_url !== undefined && { proxyUrl: config.proxy_url }),
    followRedirects: config.follow_redirects,
    compressed: config.enable_compression,
    strict: config.strict,
    bodyLimitBytes: parseSize(config.body_size_limit) || Infinity,
    limits: {
      samples: config.sample_limit,
      labels: config.label_limit,
      labelNameBytes: config.label_name_length_limit,
      labelValueBytes: config.label_value_length_limit,
    },
    ...(allRules.length > 0 && { planner: createPlanner(relabelSeries(allRules)) }),
  }
}

function lowerCaseNames(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
