/**
 * Scrapes NVIDIA dcgm-exporter: utilisation, memory, power and errors of every GPU of a node.
 *
 * Place `normalize` behind it: names, units and labels differ from one generation of the exporter to the next.
 */
import { defineReceiver, type ConfigSchema } from '../pipeline/component.ts'
import { kubernetesRules } from './scraping/discovery/kubernetes.ts'
import { checkScrapeConfig, scrapeFields } from './scraping/scrape-config.ts'
import { createScrapeReceiver, type ReceiverKind } from './scraping/scrape-receiver.ts'

const config = {
  type: 'object',
  properties: scrapeFields,
  additionalProperties: false,
} as const satisfies ConfigSchema

/** While it starts and when it reloads its list of fields, dcgm-exporter answers with status 200 and an empty body. */
const kind: ReceiverKind = {
  urls: { scheme: 'http', port: 9400, path: '/metrics' },
  fallback: 'text',
  emptyIsFailure: true,
  isOfNode: true,
}

export const dcgm = defineReceiver({
  type: 'dcgm',
  summary: 'Scrapes NVIDIA dcgm-exporter.',
  config,
  example: { scrape_interval: '15s', static_targets: ['http://10.0.0.1:9400/metrics'] },
  check: config => checkScrapeConfig(config, kind.urls),
  rbac: kubernetesRules,

  create(config, host, next) {
    return createScrapeReceiver(config, kind, host, next)
  },
})
