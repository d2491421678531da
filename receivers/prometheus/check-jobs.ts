/** What is wrong with a Prometheus config that a schema cannot say. */
import type { Problem } from '../../pipeline/component.ts'
import { checkRelabelRules } from '../../pipeline/relabel/rule.ts'
import { checkDns } from '../scraping/discovery/dns.ts'
import { checkFileSd } from '../scraping/discovery/file-sd.ts'
import { below, checkRefresh, checkTimes } from '../scraping/scrape-config.ts'
import { checkHttpClient } from './http-client.ts'
import { wholeJob } from './job-options.ts'
import type { GlobalConfig, JobConfig, PrometheusConfig } from './job-schema.ts'

export function checkJobs({ scrape_configs, global }: PrometheusConfig): Problem[] {
  const names = new Set<string>()
  return scrape_configs.flatMap((job, index) => {
    const problems = checkJob(job, global)
    if (names.has(job.job_name)) {
      problems.push({ path: ['job_name'], message: `there is a job "${job.job_name}" already` })
    }
    names.add(job.job_name)
    return below(['scrape_configs', index], problems)
  })
}

function checkJob(job: JobConfig, global: GlobalConfig | undefined): Problem[] {
  return [
    ...checkTimes(wholeJob(job, global)),
    ...checkHttpClient(job),
    ...below(['relabel_configs'], checkRelabelRules(job.relabel_configs)),
    ...below(['metric_relabel_configs'], checkRelabelRules(job.metric_relabel_configs)),
    ...checkAddresses(job),
    ...job.file_sd_configs.flatMap((config, i) =>
      below(['file_sd_configs', i], [...checkFileSd(config), ...checkRefresh(config)]),
    ),
    ...job.dns_sd_configs.flatMap((config, i) =>
      below(['dns_sd_configs', i], [...checkDns(config), ...checkRefresh(config)]),
    ),
    ...job.http_sd_configs.flatMap((config, i) =>
      below(['http_sd_configs', i], [...checkHttpClient(config), ...checkRefresh(config)]),
    ),
  ]
}

/** Rules may make a parameter of a URL, as for a blackbox exporter. Without any it is a mistake. */
function checkAddresses({ static_configs, relabel_configs }: JobConfig): Problem[] {
  if (relabel_configs.length > 0) return []
  return static_configs.flatMap(({ targets }, i) =>
    targets.flatMap((target, index) => {
      if (!target.includes('/')) return []
      const message = `"${target}" is no host:port; the path is said by \`metrics_path\`, the scheme by \`scheme\``
      return [{ path: ['static_configs', i, 'targets', index], message }]
    }),
  )
}
