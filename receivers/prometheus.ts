/** Scrapes any exporter, by jobs that can be pasted from a Prometheus config. */
import { defineReceiver, type ConfigSchema } from '../pipeline/component.ts'
import { checkJobs } from './prometheus/check-jobs.ts'
import { discoveriesOf, scrapeOptions, targetDefaults, wholeJob } from './prometheus/job-options.ts'
import { prometheusConfig } from './prometheus/job-schema.ts'
import { createJob } from './scraping/job.ts'
import { below } from './scraping/scrape-config.ts'
import { counted, createReceiverOf, KEEP_DROPPED } from './scraping/scrape-receiver.ts'
import { createTarget } from './scraping/target.ts'
import { specFrom } from './scraping/target-spec.ts'

const config = {
  type: 'object',
  properties: {
    config: prometheusConfig,
    strict: {
      type: 'boolean',
      default: false,
      description:
        'Take OpenMetrics to the letter: one mistake fails the scrape. Otherwise a bad line is skipped and counted.',
    },
  },
  required: ['config'],
  additionalProperties: false,
} as const satisfies ConfigSchema

export const prometheus = defineReceiver({
  type: 'prometheus',
  summary: 'Scrapes any exporter, by jobs of a Prometheus config.',
  config,
  example: {
    config: {
      scrape_configs: [
        { job_name: 'node', scrape_interval: '30s', static_configs: [{ targets: ['10.0.0.1:9100', '10.0.0.2:9100'] }] },
      ],
    },
  },
  check: ({ config }) => below(['config'], checkJobs(config)),

  create({ config, strict }, host, next) {
    const jobs = config.scrape_configs.map(job => wholeJob(job, config.global))
    return createReceiverOf(
      (scheduler, give) =>
        jobs.map(job => {
          const options = scrapeOptions(job, strict, host)
          const defaults = targetDefaults(job)
          return createJob(
            {
              name: `job ${job.job_name}`,
              discoveries: discoveriesOf(job, host),
              specs: found => [specFrom(found, defaults)],
              createTarget: (spec, blocked) => createTarget(spec, options, host, give, blocked),
              targetLimit: job.target_limit ?? 0,
              keepDropped: job.keep_dropped_targets ?? KEEP_DROPPED,
            },
            scheduler,
            host,
          )
        }),
      host,
      next,
      count => `${counted(count, 'target')} of ${counted(jobs.length, 'job')}`,
    )
  },
})
