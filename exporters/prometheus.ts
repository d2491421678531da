/**
 * Serves the latest value of every live series at `/metrics`, for Prometheus and whoever else scrapes.
 *
 * A series ends at once when its source says so or fails, and after `metric_expiration` when nothing is heard of the source.
 * Scraped names and labels leave as they came; those that came by OTLP are translated. Where sources describe a metric differently, the one that came first is believed; a series
 * that several sources have is taken from the newest batch.
 */
import { defineExporter, type ConfigSchema, type Listener, type Problem } from '../pipeline/component.ts'
import { duration, endpoint, labels, parseDuration, serverSecurity } from '../pipeline/config/fields.ts'
import { createServerSecurity } from '../pipeline/http/server-security.ts'
import { createRouter } from '../pipeline/server/router.ts'
import { labelsFrom } from '../pipeline/model/labels.ts'
import { TRANSLATION_STRATEGIES } from '../pipeline/formats/prometheus-naming.ts'
import { isPlainLabelName, isPlainMetricName } from '../pipeline/formats/render-names.ts'
import { Collections } from './prometheus/collections.ts'
import { Conflicts } from './prometheus/conflicts.ts'
import { LatestBatches } from './prometheus/latest.ts'
import { PlainNames } from './prometheus/plain-names.ts'
import { convertResource, resourceConversion } from './prometheus/resource-conversion.ts'
import { TargetInfo } from './prometheus/target-info.ts'
import { metricsRoute } from './prometheus/metrics-route.ts'

const config = {
  type: 'object',
  properties: {
    endpoint: endpoint(
      'Address to listen at. Only this machine can reach it unless the host says otherwise.',
      '127.0.0.1:9464',
    ),
    namespace: {
      type: 'string',
      default: '',
      description: 'Stands before the name of every metric, with an underscore.',
    },
    const_labels: { ...labels, default: {}, description: 'Labels for every series that has no such label of its own.' },
    send_timestamps: {
      type: 'boolean',
      default: false,
      description:
        'Say when each sample was taken. Prometheus then sees that a series has ended only with `track_timestamps_staleness`.',
    },
    translation_strategy: {
      type: 'string',
      enum: TRANSLATION_STRATEGIES,
      default: 'UnderscoreEscapingWithSuffixes',
      description:
        'What happens to names that came by OTLP: whether what Prometheus 2 cannot read becomes underscores, and whether unit and `_total` are added. Scraped names never change.',
    },
    resource_to_telemetry_conversion: resourceConversion,
    metric_expiration: duration('How long the series of a source from which nothing comes any more are served.', '5m'),
    max_concurrent_requests: {
      type: 'integer',
      minimum: 1,
      default: 40,
      description:
        'How many scrapes are answered at the same time. Others get the status 503 and are asked to come back.',
    },
    ...serverSecurity,
  },
  unsupported: {
    enable_open_metrics: 'OpenMetrics is served to every scraper that asks for it',
    add_metric_suffixes: 'use `translation_strategy`',
    without_scope_info: 'drop the labels `otel_scope_.*` with the processor `relabel`',
  },
} as const satisfies ConfigSchema

export const prometheus = defineExporter({
  type: 'prometheus',
  summary: 'Serves the latest values for Prometheus to scrape.',
  config,
  example: { endpoint: '0.0.0.0:9464', const_labels: { cluster: 'training-east' } },
  listens: ({ endpoint: address }) => [{ address, path: ['endpoint'] }],

  check({ namespace, const_labels, metric_expiration }) {
    const problems: Problem[] = []
    for (const name of Object.keys(const_labels)) {
      if (isPlainLabelName(name) && !name.startsWith('__')) continue
      problems.push({ path: ['const_labels', name], isOfKey: true, message: `"${name}" cannot be the name of a label` })
    }
    if (namespace !== '' && !isPlainMetricName(namespace)) {
      problems.push({ path: ['namespace'], message: `"${namespace}" cannot be the beginning of a metric's name` })
    }
    if (parseDuration(metric_expiration) === 0) {
      problems.push({ path: ['metric_expiration'], message: 'must be longer than 0, or nothing can ever be scraped' })
    }
    return problems
  },

  create(config, host) {
    const { endpoint: address, namespace, const_labels, send_timestamps, metric_expiration } = config
    const { translation_strategy: strategy, resource_to_telemetry_conversion: conversion } = config
    const expirationMs = parseDuration(metric_expiration)
    const latest = new LatestBatches(expirationMs)
    const conflicts = new Conflicts(host.log)
    const targetInfo = new TargetInfo(host.id, strategy)
    const plainNames = new PlainNames(strategy)
    const collections = new Collections({
      style: {
        namespace,
        addedLabels: labelsFrom(Object.entries(const_labels)),
        sourceLabels: convertResource(conversion, strategy),
        strategy,
      },
      timestamps: send_timestamps,
      clock: host.clock,
      hold() {
        host.demand.ask()
        latest.expire(host.clock.monotonic())
        const held = latest.hold()
        const targets = targetInfo.batch(held.batches)
        return targets === undefined ? held : { ...held, batches: [...held.batches, targets] }
      },
      escapingFor: (asked, batches) => plainNames.escapingFor(asked, batches),
      taken: snapshot => conflicts.see(snapshot),
    })
    const answer = createRouter([metricsRoute(collections, host.clock, config.max_concurrent_requests)], host)
    let listener: Listener | undefined
    let stops: (() => void)[] = []

    /** So that what is gone takes no memory, also where nobody scrapes. */
    function tidyLater(): () => void {
      const everyMs = Math.max(expirationMs, 1000)
      let cancel = host.clock.after(everyMs, function tidy() {
        latest.expire(host.clock.monotonic())
        collections.dropUnused()
        cancel = host.clock.after(everyMs, tidy)
      })
      return () => cancel()
    }

    return {
      async start() {
        const count = (status: number): void => {
          host.counters.add('gpucol_exporter_requests', 1, { status: String(status) })
        }
        listener = await host.network.listen(
          address,
          (request, response) => {
            response.on('finish', () => count(response.statusCode))
            answer(request, response)
          },
          () => createServerSecurity(config, host.log, () => count(401)),
        )
        stops = [
          host.counters.observe('gpucol_exporter_live_series', () => [{ value: latest.seriesCount() }]),
          host.counters.observe('gpucol_exporter_conflicts', () => conflicts.counts()),
          tidyLater(),
        ]
      },
      describe: () => `${config.tls === undefined ? 'http' : 'https'}://${listener?.address ?? address}/metrics`,
      consume(batch) {
        latest.put(batch, host.clock.monotonic())
      },
      async stop(deadlineMs) {
        for (const stop of stops.splice(0)) stop()
        await listener?.close(deadlineMs)
      },
    }
  },
})
