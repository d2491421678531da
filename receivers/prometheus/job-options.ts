/** What the config of a Prometheus job is, once everything is known that it leaves open. */
import type { Host } from '../../pipeline/component.ts'
import { parseDuration, parseSize } from '../../pipeline/config/fields.ts'
import { ACCEPT } from '../../pipeline/formats/exposition-format.ts'
import { createPlanner } from '../../pipeline/model/planner.ts'
import { compileRelabel } from '../../pipeline/relabel/relabel.ts'
import { relabelSeries } from '../../pipeline/relabel/relabel-series.ts'
import { createCredentials } from '../../pipeline/http/credentials.ts'
import { staticDiscovery, type Discovery } from '../scraping/discovery/discovery.ts'
import { createDnsDiscovery } from '../scraping/discovery/dns.ts'
import { createFileDiscovery } from '../scraping/discovery/file-sd.ts'
import { createHttpDiscovery } from '../scraping/discovery/http-sd.ts'
import { timeoutOf } from '../scraping/scrape-config.ts'
import type { ScrapeOptions } from '../scraping/target.ts'
import type { TargetDefaults } from '../scraping/target-spec.ts'
import { credentialsOf } from './http-client.ts'
import type { GlobalConfig, JobConfig } from './job-schema.ts'
import { acceptHeader, dialectOfProtocol } from './protocols.ts'

/** A job with what `global` says where it says nothing itself. */
export type WholeJob = JobConfig & { readonly scrape_interval: string; readonly scrape_timeout: string }

export function wholeJob(job: JobConfig, global: GlobalConfig = {}): WholeJob {
  const whole = { scrape_interval: '1m', ...global, ...job }
  // A timeout for all is no mistake in a job with a shorter interval.
  const isTooLong =
    job.scrape_timeout === undefined &&
    global.scrape_timeout !== undefined &&
    parseDuration(global.scrape_timeout) > parseDuration(whole.scrape_interval)
  return { ...whole, scrape_timeout: isTooLong ? whole.scrape_interval : timeoutOf(whole) }
}

export function targetDefaults(job: WholeJob): TargetDefaults {
  return {
    job: job.job_name,
    scheme: job.scheme,
    metricsPath: job.metrics_path,
    interval: job.scrape_interval,
    timeout: job.scrape_timeout,
    params: job.params ?? {},
    labels: {},
    relabel: compileRelabel(job.relabel_configs),
    spellsPort: false,
    isOfNode: true,
  }
}

export function scrapeOptions(job: WholeJob, strict: boolean, { clock }: Pick<Host, 'clock'>): ScrapeOptions {
  const { scrape_protocols, fallback_scrape_protocol, metric_relabel_configs, proxy_url } = job
  return {
    honorLabels: job.honor_labels,
    honorTimestamps: job.honor_timestamps,
    headers: {},
    accept: scrape_protocols === undefined ? ACCEPT : acceptHeader(scrape_protocols),
    fallback: fallback_scrape_protocol && dialectOfProtocol(fallback_scrape_protocol),
    credentials: createCredentials(credentialsOf(job), clock),
    ...(proxy_url !== undefined && { proxyUrl: proxy_url }),
    followRedirects: job.follow_redirects,
    compressed: job.enable_compression,
    strict,
    emptyIsFailure: false,
    bodyLimitBytes: sizeOf(job.body_size_limit ?? '256MiB') || Infinity,
    limits: {
      samples: job.sample_limit ?? 2_000_000,
      labels: job.label_limit ?? 0,
      labelNameBytes: job.label_name_length_limit ?? 0,
      labelValueBytes: job.label_value_length_limit ?? 0,
    },
    ...(metric_relabel_configs.length > 0 && { planner: createPlanner(relabelSeries(metric_relabel_configs)) }),
  }
}

/** In Prometheus a megabyte is 1024 kilobytes, however it is spelt. */
function sizeOf(text: string): number {
  return parseSize(text.replace(/([KMGT])B$/i, '$1iB'))
}

export function discoveriesOf(job: WholeJob, host: Host): Discovery[] {
  return [
    staticDiscovery(() =>
      job.static_configs.flatMap(({ targets, labels = {} }) =>
        targets.map(target => ({ labels: new Map([...Object.entries(labels), ['__address__', target]]) })),
      ),
    ),
    ...job.file_sd_configs.map(config => createFileDiscovery(config, host)),
    ...job.dns_sd_configs.map(config => createDnsDiscovery(config, host)),
    ...job.http_sd_configs.map(config =>
      createHttpDiscovery(
        {
          url: config.url,
          refreshMs: parseDuration(config.refresh_interval),
          headers: {},
          credentials: createCredentials(credentialsOf(config), host.clock),
          ...(config.proxy_url !== undefined && { proxyUrl: config.proxy_url }),
          followRedirects: config.follow_redirects,
        },
        host,
      ),
    ),
  ]
}
