/** The part of a Prometheus config that scrapes, key by key as Prometheus has it. What it has and we do not is listed, too. */
import type { ConfigOf } from '../../pipeline/component.ts'
import { duration, labels, size } from '../../pipeline/config/fields.ts'
import { relabelRules } from '../../pipeline/relabel/rule.ts'
import { dns } from '../scraping/discovery/dns.ts'
import { fileSd } from '../scraping/discovery/file-sd.ts'
import { httpSdFields } from '../scraping/discovery/http-sd.ts'
import { httpClientFields, httpClientUnsupported } from './http-client.ts'
import { PROTOCOLS } from './protocols.ts'

function limit<const D extends string>(description: D) {
  return { type: 'integer', minimum: 0, description: `${description} 0 is no limit.` } as const
}

/** Keys of a job that `global` has, too, for all jobs that do not say otherwise. */
const globalFields = {
  scrape_interval: duration('Time from one scrape of a target to the next; 1m unless set.'),
  scrape_timeout: duration('How long a scrape may take, at most the interval; 10s unless set.'),
  scrape_protocols: {
    type: 'array',
    items: { type: 'string', enum: PROTOCOLS },
    minItems: 1,
    uniqueItems: true,
    description: 'Formats to ask for, best first.',
  },
  body_size_limit: size('A larger body, uncompressed, is a failed scrape; 256MiB unless set, 0 is no limit.'),
  sample_limit: limit('More samples after relabelling fail the scrape; 2000000 unless set.'),
  label_limit: limit('A series with more labels, its name included, fails the scrape.'),
  label_name_length_limit: limit('A longer label name, in bytes, fails the scrape.'),
  label_value_length_limit: limit('A longer label value or metric name, in bytes, fails the scrape.'),
  target_limit: limit('If a job has more targets, all of them fail.'),
  keep_dropped_targets: limit('How many of the targets that are dropped `/targets` shows; 1000 unless set.'),
  metric_name_validation_scheme: { type: 'string', enum: ['utf8'], description: 'Names may be any UTF-8.' },
  metric_name_escaping_scheme: {
    type: 'string',
    enum: ['allow-utf-8'],
    description: 'Targets are asked for names as they are.',
  },
  scrape_native_histograms: { type: 'boolean', enum: [false], description: 'Histograms are read as classic ones.' },
} as const

const NATIVE = 'histograms are read as classic ones'

const globalUnsupported = {
  always_scrape_classic_histograms: NATIVE,
  convert_classic_histograms_to_nhcb: NATIVE,
  scrape_failure_log_file: 'failed scrapes are in the log and at `/targets`',
} as const

const staticConfigs = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      targets: { type: 'array', items: { type: 'string' }, default: [], description: 'Targets, as host:port.' },
      labels: { ...labels, description: 'Labels of these targets.' },
    },
    additionalProperties: false,
  },
  default: [],
  description: 'Targets that are written down.',
} as const

/** Other ways of Prometheus to find targets. */
const OTHER_DISCOVERY = (
  'aws azure consul digitalocean docker dockerswarm ec2 eureka gce hetzner ionos kubernetes kuma lightsail linode ' +
  'marathon nerve nomad openstack ovhcloud puppetdb scaleway serverset stackit triton uyuni vultr'
).split(' ')

const jobUnsupported: Readonly<Record<string, string>> = {
  ...globalUnsupported,
  ...httpClientUnsupported,
  native_histogram_bucket_limit: NATIVE,
  native_histogram_min_bucket_factor: NATIVE,
  ...Object.fromEntries(
    OTHER_DISCOVERY.map(name => [
      `${name}_sd_configs`,
      'there are static_configs, file_sd_configs, dns_sd_configs and http_sd_configs',
    ]),
  ),
}

const job = {
  type: 'object',
  properties: {
    job_name: { type: 'string', minLength: 1, description: 'Name of the job, which is the label `job`.' },
    ...globalFields,
    fallback_scrape_protocol: {
      type: 'string',
      enum: PROTOCOLS,
      description: 'What a body is taken for whose Content-Type is missing or unknown. Without it the scrape fails.',
    },
    metrics_path: { type: 'string', default: '/metrics', description: 'Path of the targets.' },
    scheme: { type: 'string', enum: ['http', 'https'], default: 'http', description: 'Scheme of the targets.' },
    params: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Parameters in the URL of every target.',
    },
    honor_labels: {
      type: 'boolean',
      default: false,
      description:
        "Labels of a sample win over those of its target. Otherwise the target's win, and the sample's are kept with exported_ in front.",
    },
    honor_timestamps: {
      type: 'boolean',
      default: true,
      description: 'Use the timestamps that a target gives its samples. Otherwise the time of the scrape.',
    },
    track_timestamps_staleness: {
      type: 'boolean',
      enum: [true],
      description: 'Series with timestamps of their own end as all others do.',
    },
    enable_compression: {
      type: 'boolean',
      default: false,
      description: 'Ask targets for compressed bodies. Unpacking costs several times what the rest of a scrape does.',
    },
    ...httpClientFields,
    static_configs: staticConfigs,
    file_sd_configs: { type: 'array', items: fileSd, default: [], description: 'Targets from files.' },
    dns_sd_configs: { type: 'array', items: dns, default: [], description: 'Targets from the DNS.' },
    http_sd_configs: {
      type: 'array',
      items: {
        type: 'object',
        properties: { ...httpSdFields, ...httpClientFields },
        unsupported: httpClientUnsupported,
        required: ['url'],
        additionalProperties: false,
      },
      default: [],
      description: 'Targets from URLs.',
    },
    relabel_configs: { ...relabelRules, default: [], description: 'Rules that choose targets and give them labels.' },
    metric_relabel_configs: { ...relabelRules, default: [], description: 'Rules for the series of the targets.' },
  },
  unsupported: jobUnsupported,
  required: ['job_name'],
  additionalProperties: false,
} as const

const RULES = 'gpucol evaluates no rules'
const ELSEWHERE = 'gpucol has sections of its own for that'

export const prometheusConfig = {
  type: 'object',
  properties: {
    global: {
      type: 'object',
      properties: globalFields,
      unsupported: {
        ...globalUnsupported,
        evaluation_interval: RULES,
        rule_query_offset: RULES,
        query_log_file: 'gpucol answers no queries',
        external_labels: 'set `const_labels` at the exporter, or use the processor `relabel`',
        runtime: ELSEWHERE,
      },
      additionalProperties: false,
      description: 'What holds for all jobs that do not say otherwise.',
    },
    scrape_configs: { type: 'array', items: job, default: [], description: 'Jobs: sets of targets.' },
  },
  unsupported: {
    scrape_config_files: 'include a file by ${file:path}',
    rule_files: RULES,
    alerting: RULES,
    remote_write: ELSEWHERE,
    remote_read: ELSEWHERE,
    storage: ELSEWHERE,
    tracing: ELSEWHERE,
    otlp: ELSEWHERE,
    runtime: ELSEWHERE,
  },
  additionalProperties: false,
  description: 'The part of a Prometheus config that scrapes.',
} as const

export type PrometheusConfig = ConfigOf<typeof prometheusConfig>
export type GlobalConfig = NonNullable<PrometheusConfig['global']>
export type JobConfig = PrometheusConfig['scrape_configs'][number]
