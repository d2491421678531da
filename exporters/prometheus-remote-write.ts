/**
 * Sends every sample by Prometheus remote write: to Prometheus, Mimir, Thanos, VictoriaMetrics and whoever else takes it.
 *
 * When a series ends, the destination is told by a staleness marker. Samples of a series arrive in the order of their times.
 */
import { defineExporter, type ConfigSchema, type Problem } from '../pipeline/component.ts'
import { labels, url } from '../pipeline/config/fields.ts'
import { TRANSLATION_STRATEGIES } from '../pipeline/formats/prometheus-naming.ts'
import { isPlainLabelName, isPlainMetricName } from '../pipeline/formats/render-names.ts'
import { labelsFrom } from '../pipeline/model/labels.ts'
import { checkRelabelRules, relabelRules } from '../pipeline/relabel/rule.ts'
import { checkPushConfig, pushProperties } from './delivery/push-config.ts'
import { createPush } from './delivery/push.ts'
import { createEncoder, type RemoteWriteEncoder } from './prometheus-remote-write/encoder.ts'
import { createProtocol, RESERVED_HEADERS } from './prometheus-remote-write/protocol.ts'

const config = {
  type: 'object',
  properties: {
    endpoint: url('Where requests go, with the path: `https://example.com/api/v1/write`.'),
    version: {
      type: 'integer',
      enum: [1, 2],
      default: 1,
      description:
        'Version of the protocol. A destination that turns out not to understand 2 gets 1 from then on, what waits for it included.',
    },
    external_labels: {
      ...labels,
      default: {},
      description: 'Labels for every series that has no such label of its own.',
    },
    write_relabel_configs: {
      ...relabelRules,
      default: [],
      description: 'Relabelling rules for what is sent, in order; they see external labels, too.',
    },
    namespace: {
      type: 'string',
      default: '',
      description: 'Stands before the name of every metric, with an underscore.',
    },
    translation_strategy: {
      type: 'string',
      enum: TRANSLATION_STRATEGIES,
      default: 'UnderscoreEscapingWithSuffixes',
      description:
        'How metrics and attributes that came by OTLP are called. Scraped names stay as they are, but for characters that receivers may not know, unless the strategy has no escaping.',
    },
    target_info: {
      type: 'boolean',
      default: true,
      description: 'Send what is known of resources that push by OTLP as `target_info`.',
    },
    send_metadata: {
      type: 'boolean',
      default: true,
      description:
        'Say what type, help and unit metrics have: every minute in version 1, with every series in version 2.',
    },
    max_samples_per_send: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      default: 2000,
      description: 'How many samples a request has at most.',
    },
    shards: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 4,
      description:
        'How many parts the series are divided into. Each part has one request under way, so more of them send more at a time; `sending_queue.num_consumers` is the limit for all together.',
    },
    ...pushProperties,
  },
  required: ['endpoint'],
  additionalProperties: false,
  unsupported: {
    url: 'the key is endpoint',
    remote_timeout: 'the key is timeout',
    queue_config: 'the keys are shards, max_samples_per_send, sending_queue and retry_on_failure',
    remote_write_queue: 'the keys are shards and sending_queue',
    batch_send_deadline: 'the key is sending_queue.batch.flush_timeout',
    metadata_config: 'the key is send_metadata',
    protobuf_message: 'the key is version',
    send_exemplars: 'exemplars do not travel through the pipeline',
    send_native_histograms: 'histograms are sent as their classic series',
    add_metric_suffixes: 'translation_strategy says whether suffixes are added',
  },
} as const satisfies ConfigSchema

/** As often as Prometheus does. */
const METADATA_EVERY_MS = 60_000

export const prometheusRemoteWrite = defineExporter({
  type: 'prometheus_remote_write',
  aliases: ['prometheusremotewrite'],
  summary: 'Sends every sample by Prometheus remote write.',
  config,
  example: {
    endpoint: 'https://mimir.example.com/api/v1/push',
    external_labels: { cluster: 'training-east' },
    headers: { 'X-Scope-OrgID': 'gpu-team' },
  },

  check(settings) {
    const { external_labels, namespace, write_relabel_configs, headers = {}, headers_files } = settings
    const problems: Problem[] = checkPushConfig(settings)
    for (const name of Object.keys(external_labels)) {
      if (isPlainLabelName(name) && !name.startsWith('__')) continue
      problems.push({
        path: ['external_labels', name],
        isOfKey: true,
        message: `"${name}" cannot be the name of a label`,
      })
    }
    if (namespace !== '' && !isPlainMetricName(namespace)) {
      problems.push({ path: ['namespace'], message: `"${namespace}" cannot be the beginning of a metric's name` })
    }
    for (const [key, given] of Object.entries({ headers, headers_files })) {
      for (const name of Object.keys(given)) {
        if (!RESERVED_HEADERS.includes(name.toLowerCase())) continue
        problems.push({ path: [key, name], isOfKey: true, message: `"${name}" is set by the protocol` })
      }
    }
    for (const { path, message } of checkRelabelRules(write_relabel_configs)) {
      problems.push({ path: ['write_relabel_configs', ...path], message })
    }
    return problems
  },

  create(settings, host) {
    const { endpoint, version, external_labels, namespace, translation_strategy } = settings
    const protocol = createProtocol(endpoint, version, host.log)
    let encoder: RemoteWriteEncoder | undefined
    const push = createPush(host, settings, {
      subject: endpoint,
      compress: 'none',
      request: protocol.request,
      judge: protocol.judge,
      createEncoder: emit =>
        (encoder = createEncoder(
          {
            naming: { strategy: translation_strategy, namespace },
            externalLabels: labelsFrom(Object.entries(external_labels)),
            rules: settings.write_relabel_configs,
            shards: settings.shards,
            maxSamples: settings.max_samples_per_send,
            sendMetadata: settings.send_metadata,
            targetInfo: settings.target_info,
            version: protocol.version,
          },
          host,
          emit,
        )),
    })
    let stops: (() => void)[] = []

    function repeatMetadata(): () => void {
      let cancel = host.clock.after(METADATA_EVERY_MS, function repeat() {
        encoder?.repeatMetadata()
        cancel = host.clock.after(METADATA_EVERY_MS, repeat)
      })
      return () => cancel()
    }

    return {
      ...push,
      async start() {
        await push.start()
        stops = [
          repeatMetadata(),
          host.counters.observe('gpucol_exporter_live_series', () => [{ value: encoder?.seriesCount ?? 0 }]),
        ]
      },
      async stop(deadlineMs) {
        for (const stop of stops.splice(0)) stop()
        await push.stop(deadlineMs)
      },
    }
  },
})
