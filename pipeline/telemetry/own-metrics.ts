/**
 * THE table of the metrics that gpucol has about itself. Dashboards and alerts are built on these names: one that is here stays,
 * and what is not here cannot be counted. `configs/own-metrics.md` is made from it.
 *
 * Names are those of the OpenTelemetry Collector with `gpucol_` in front wherever it has the same thing.
 */

export type OwnMetric = {
  /** The name by OTLP, and in the code. Prometheus shows counters with `_total`, as `prometheusName` has it. */
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** As UCUM has it; empty where there is none. */
  readonly unit: string
  readonly description: string
  readonly labels: readonly string[]
  /** Upper bounds, for histograms. */
  readonly buckets?: readonly number[]
}

/** From 1 ms to 30 s: what a scrape takes, and what its timeout may be. */
const SCRAPE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** From 10 µs to 1 s: a batch is worked on without a pause, so anything above 0.1 s is a stutter of the whole process. */
const BATCH_SECONDS = [0.00001, 0.000025, 0.0001, 0.00025, 0.001, 0.0025, 0.01, 0.025, 0.1, 0.25, 1]

const receiver = ['receiver']
const processor = ['processor', 'pipeline']
const exporter = ['exporter']

export const OWN_METRICS: readonly OwnMetric[] = [
  counter('gpucol_receiver_accepted_metric_points', '{point}', receiver, 'Points that the pipelines took.'),
  counter(
    'gpucol_receiver_refused_metric_points',
    '{point}',
    receiver,
    'Points that no pipeline took, each time they were offered: they wait, the source was told so, or its next collection brings them again.',
  ),
  counter(
    'gpucol_receiver_failed_metric_points',
    '{point}',
    receiver,
    'Points that were lost by a failure inside gpucol.',
  ),
  gauge(
    'gpucol_receiver_delayed_metric_points',
    '{point}',
    receiver,
    'Points that were scraped and wait for a pipeline to take them.',
  ),
  counter(
    'gpucol_receiver_scrapes',
    '{scrape}',
    [...receiver, 'outcome'],
    'Scrapes, by outcome: ok, failed, skipped because the last one was still under way, or delayed because no pipeline took what others had brought.',
  ),
  histogram(
    'gpucol_receiver_scrape_duration_seconds',
    receiver,
    SCRAPE_SECONDS,
    'How long scrapes took, failed ones included.',
  ),
  counter(
    'gpucol_receiver_bad_lines',
    '{line}',
    receiver,
    'Lines of scraped text that could not be read and were skipped.',
  ),
  counter(
    'gpucol_receiver_exemplars',
    '{exemplar}',
    [...receiver, 'outcome'],
    'Scraped exemplars, by outcome: left out, as all are, or bad.',
  ),
  counter(
    'gpucol_receiver_missing_ends',
    '{scrape}',
    receiver,
    'Scrapes in the OpenMetrics format without the line that ends it: something may be missing.',
  ),
  counter(
    'gpucol_receiver_duplicate_samples',
    '{sample}',
    receiver,
    'Scraped samples of a series that the same scrape had already; the first counts.',
  ),
  counter(
    'gpucol_receiver_kubernetes_requests',
    '{request}',
    [...receiver, 'status'],
    'Requests to the Kubernetes API, by HTTP status, or failed where there was no answer.',
  ),
  counter(
    'gpucol_receiver_kubernetes_watch_restarts',
    '{watch}',
    [...receiver, 'resource', 'reason'],
    'Watches of the Kubernetes API that were over and begun anew: ended by the server after their time, dropped, silent for too long, expired (everything was listed again), ended by an error, or unreadable in parts (everything was compared again).',
  ),
  counter(
    'gpucol_receiver_kubernetes_bad_objects',
    '{object}',
    [...receiver, 'resource'],
    'Kubernetes objects that could not be read and were skipped.',
  ),
  gauge(
    'gpucol_receiver_kubernetes_objects',
    '{object}',
    [...receiver, 'resource'],
    'Kubernetes objects that are known now, by resource.',
  ),
  counter(
    'gpucol_receiver_kubernetes_changes',
    '{change}',
    [...receiver, 'resource'],
    'Kubernetes objects that came, changed in what is kept of them, or went.',
  ),
  gauge(
    'gpucol_receiver_kubernetes_unreadable_owners',
    '{object}',
    receiver,
    'Owners that are referred to and cannot be read: forbidden, gone, or of a kind that the API does not have.',
  ),
  gauge(
    'gpucol_receiver_kubernetes_unknown_owners',
    '{object}',
    receiver,
    'Owners that are referred to and have not been read yet.',
  ),

  counter('gpucol_processor_incoming_metric_points', '{point}', processor, 'Points that came in.'),
  counter('gpucol_processor_outgoing_metric_points', '{point}', processor, 'Points that were handed on.'),
  counter(
    'gpucol_processor_dropped_metric_points',
    '{point}',
    processor,
    'Points that were lost by a failure of the processor.',
  ),
  counter(
    'gpucol_processor_refused_metric_points',
    '{point}',
    processor,
    'Points that were sent back because nobody further on takes them now.',
  ),
  histogram(
    'gpucol_processor_duration_seconds',
    processor,
    BATCH_SECONDS,
    'How long the processor itself took for a batch, without those that come after it.',
  ),
  counter(
    'gpucol_processor_plans',
    '{plan}',
    processor,
    'Plans that were made: once for a set of series, and again when that or the metadata it was made from changes.',
  ),
  counter(
    'gpucol_processor_mapped_series',
    '{series}',
    processor,
    'Label sets, metrics or series that the processor looked at to make plans. Flat while nothing changes.',
  ),
  counter(
    'gpucol_processor_folded_metric_points',
    '{point}',
    processor,
    'Points that became one with another because the processor made their series the same.',
  ),
  counter(
    'gpucol_processor_unconverted_series',
    '{series}',
    processor,
    'Series that a rule wants in a unit that theirs cannot be converted to, or whose unit nobody says; they go on as they are. Counted when plans are made.',
  ),
  counter(
    'gpucol_processor_limited_metric_points',
    '{point}',
    processor,
    'Points of series over a limit on how many there may be, dropped or collapsed into one.',
  ),
  gauge(
    'gpucol_processor_limited_series',
    '{series}',
    [...processor, 'metric'],
    'Series over a limit on how many there may be, by metric; only metrics that have any.',
  ),
  gauge(
    'gpucol_processor_admitted_series',
    '{series}',
    processor,
    'Series that a limit on how many there may be lets through.',
  ),
  counter(
    'gpucol_processor_resets',
    '{reset}',
    processor,
    'Counters that were found to have begun anew; what they show then is their increase.',
  ),
  counter(
    'gpucol_processor_undetermined_metric_points',
    '{point}',
    [...processor, 'reason'],
    'Points of counters that were left out because their increase is not known: the first of a series, a repeated or earlier time, or a value that is no number.',
  ),
  gauge(
    'gpucol_processor_memory_pressure',
    '',
    processor,
    'Where memory is: 0 below the limits, 1 above the soft one, 2 above the hard one.',
  ),
  counter(
    'gpucol_processor_thinned_metric_points',
    '{point}',
    processor,
    'Points that were held back while memory was short, and given up for newer ones of the same source.',
  ),
  gauge(
    'gpucol_processor_delayed_metric_points',
    '{point}',
    processor,
    'Points that are held back now because memory is short.',
  ),
  counter(
    'gpucol_processor_out_of_range_metric_points',
    '{point}',
    [...processor, 'metric'],
    'Points with a value that cannot be, and were left out, by what they would have become; their series go on.',
  ),
  counter(
    'gpucol_processor_untranslated_series',
    '{series}',
    [...processor, 'metric', 'reason'],
    'Series that got no name of another generation, by their metric: nobody knows the ids that they have, or another has the name already. Counted when plans are made.',
  ),
  gauge(
    'gpucol_deprecated_series',
    '{series}',
    [...processor, 'metric'],
    'Series with names, labels or units of an older generation that are handed on now, by metric.',
  ),
  counter(
    'gpucol_processor_resolved_metric_points',
    '{point}',
    processor,
    'Points of pods and jobs that were joined to their workload.',
  ),
  counter(
    'gpucol_processor_late_metric_points',
    '{point}',
    processor,
    'Points that were joined to the workload of a pod that is gone.',
  ),
  counter(
    'gpucol_processor_unresolved_metric_points',
    '{point}',
    [...processor, 'reason'],
    'Points of pods that were not joined, or not with all: nobody knows the pod, its name is that of one with another uid, an owner has not been read yet, the pod only reserves a GPU for others, or the series names no namespace.',
  ),
  counter(
    'gpucol_processor_ambiguous_metric_points',
    '{point}',
    [...processor, 'reason'],
    'Points of pods that were not joined because several pods have the name and nothing tells which is meant, or joined by the first of several owners none of which is the controller.',
  ),
  counter(
    'gpucol_processor_held_back_metric_points',
    '{point}',
    processor,
    'Points of pods and GPUs that were not handed on because the model of the cluster was not complete yet.',
  ),
  gauge(
    'gpucol_rollup_contributors',
    '{contributor}',
    [...processor, 'metric'],
    'How many GPUs, pods or others with a value made up each metric of a roll-up at the last interval.',
  ),
  gauge(
    'gpucol_rollup_oldest_contributor_seconds',
    's',
    processor,
    'Age of the oldest sample that counts in a roll-up.',
  ),
  gauge(
    'gpucol_rollup_held_targets',
    '{target}',
    processor,
    'Targets that cannot be scraped and whose last values still count in roll-ups.',
  ),
  gauge(
    'gpucol_rollup_missing_targets',
    '{target}',
    processor,
    'Targets that cannot be scraped and count in no roll-up: they never answered, or not for longer than `hold_failed`.',
  ),

  counter('gpucol_exporter_sent_metric_points', '{point}', exporter, 'Points that were delivered, or can be scraped.'),
  counter(
    'gpucol_exporter_send_failed_metric_points',
    '{point}',
    [...exporter, 'reason'],
    'Points that could not be delivered and are lost: the destination refused them, they were given up after `max_elapsed_time`, the process stopped before, the disk gave back something else, the exporter failed, or a file cannot be written.',
  ),
  counter(
    'gpucol_exporter_enqueue_failed_metric_points',
    '{point}',
    exporter,
    'Points that are lost because the queue was full: the oldest ones.',
  ),
  counter(
    'gpucol_exporter_rejected_metric_points',
    '{point}',
    exporter,
    'Points of accepted requests that the destination did not take (partial success). They are not sent again.',
  ),
  counter(
    'gpucol_exporter_possible_repeat_metric_points',
    '{point}',
    exporter,
    'Points that were sent again although an earlier attempt may have arrived: nobody knows, for its answer was lost.',
  ),
  counter('gpucol_exporter_retries', '{request}', exporter, 'Requests that the destination did not take at that time.'),
  gauge('gpucol_exporter_queue_size', '{request}', exporter, 'Requests that wait, and those under way.'),
  gauge('gpucol_exporter_queue_capacity', '{request}', exporter, 'How many requests can wait.'),
  gauge('gpucol_exporter_queue_bytes', 'By', exporter, 'Size of the requests that wait.'),
  gauge('gpucol_exporter_queue_capacity_bytes', 'By', exporter, 'How many bytes can wait.'),
  gauge(
    'gpucol_exporter_queued_metric_points',
    '{point}',
    [...exporter, 'storage'],
    'Points that wait to be delivered, by where they are: `disk` survives the end of the process, however it ends; `memory` does not.',
  ),
  gauge(
    'gpucol_exporter_circuit_open',
    '',
    exporter,
    '1 while the destination fails again and again and only one request at a time finds out whether it is well, else 0.',
  ),
  histogram(
    'gpucol_exporter_request_duration_seconds',
    [...exporter, 'outcome'],
    SCRAPE_SECONDS,
    'How long requests took, by outcome: accepted, retry (not taken now), or refused.',
  ),
  counter('gpucol_exporter_refused_metric_points', '{point}', exporter, 'Points that the exporter did not take.'),
  histogram('gpucol_exporter_duration_seconds', exporter, BATCH_SECONDS, 'How long the exporter took to take a batch.'),
  counter(
    'gpucol_exporter_requests',
    '{request}',
    [...exporter, 'status'],
    'HTTP requests that were answered, by status; for the exporters that are scraped.',
  ),
  counter(
    'gpucol_exporter_left_out_metric_points',
    '{point}',
    [...exporter, 'reason'],
    'Points that were not sent, by why: no number where the destination wants one, too many attributes, a summary that it does not take, a histogram with parts that are no counts, larger than a request, or a counter whose increase is not known.',
  ),
  counter(
    'gpucol_exporter_resets',
    '{reset}',
    exporter,
    'Counters that were found to have begun anew, where increases are sent.',
  ),
  gauge('gpucol_exporter_live_series', '{series}', exporter, 'Series that can be scraped now.'),
  gauge(
    'gpucol_exporter_conflicts',
    '{conflict}',
    [...exporter, 'what'],
    'Where sources do not agree, as of the last scrape: type, help, unit of a metric, or series that several sources have; metrics without a name that can be served, and labels that several attributes have become.',
  ),

  counter(
    'gpucol_http_server_failed_requests',
    '{request}',
    ['exporter', 'extension'],
    'Requests that failed inside gpucol and were answered with 500. One of the labels names the component; none is this page.',
  ),

  counter('gpucol_config_reloads', '{reload}', ['outcome'], 'Reloads of the configuration, by outcome: ok or failed.'),
  gauge(
    'gpucol_config_last_reload_successful',
    '',
    [],
    '1 if the configuration was good when it was last read, else 0.',
  ),
  gauge(
    'gpucol_config_last_reload_success_timestamp_seconds',
    's',
    [],
    'When the configuration in use was read, in seconds since 1970.',
  ),

  gauge('gpucol_build_info', '', ['version', 'node'], 'Always 1; the labels say which gpucol runs on which Node.'),
  counter('gpucol_process_cpu_seconds', 's', [], 'CPU time of the process, user and system.'),
  counter('gpucol_process_uptime_seconds', 's', [], 'Time since the start.'),
  gauge('gpucol_process_memory_rss_bytes', 'By', [], 'Physical memory of the process.'),
  gauge('gpucol_process_heap_used_bytes', 'By', [], 'JavaScript heap in use, not yet collected garbage included.'),
  gauge('gpucol_process_interned_label_sets', '{set}', [], 'Distinct label sets in memory.'),
  gauge(
    'gpucol_process_event_loop_delay_mean_seconds',
    's',
    [],
    'How late the event loop was on average, over 10 s or the time since the last look, whichever is longer.',
  ),
  gauge('gpucol_process_event_loop_delay_p99_seconds', 's', [], 'The same, 99th percentile.'),
  gauge('gpucol_process_event_loop_delay_max_seconds', 's', [], 'The same, worst case.'),
]

function counter(name: string, unit: string, labels: readonly string[], description: string): OwnMetric {
  return { name, kind: 'counter', unit, description, labels }
}

function gauge(name: string, unit: string, labels: readonly string[], description: string): OwnMetric {
  return { name, kind: 'gauge', unit, description, labels }
}

function histogram(
  name: string,
  labels: readonly string[],
  buckets: readonly number[],
  description: string,
): OwnMetric {
  return { name, kind: 'histogram', unit: 's', description, labels, buckets }
}

/** The name that stands on `/metrics`; a histogram has it with `_bucket`, `_sum` and `_count`. */
export function prometheusName(metric: OwnMetric): string {
  return metric.kind === 'counter' ? `${metric.name}_total` : metric.name
}
