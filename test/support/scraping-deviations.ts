/**
 * Where reading and scraping differ from the outside suites, and why. A case that is listed here must differ: one that does not any more is to
 * be taken out.
 */

/** Decisions that several cases follow. */
export const REASONS = {
  'native histograms':
    'OpenMetrics 1.0 has none: such a line is a bad one, skipped and counted (contract, "formats in"). Histograms travel as their classic series (design, section 2).',
  'one sample a series':
    'A batch has one value for each series: of several in one exposition the first counts, the others are counted as duplicates (prometheus-text.ts).',
  'no last line feed': 'The last line of a text exposition needs no end: a body that was cut off there is complete.',
  'escapes in help':
    'In the text format only \\\\ and \\n are escapes in help texts, as in Prometheus itself; the reference of this case knows one more.',
  'escapes in values':
    'An escape that means nothing stands for itself, as in Prometheus itself (contract: where it is silent, what Prometheus does).',
  'repeated descriptions':
    'dcgm-exporter repeats HELP and TYPE, and other exporters put them behind their samples: the first of each counts for the whole exposition (families.ts).',
  'label values are not judged':
    'Text is read line by line, and label values are never rewritten or judged (contract, "formats in"); le and quantile are labels like others.',
  'values are not judged':
    'A number that cannot be is for normalize and its ranges to drop, one sample at a time (design, section 5); reading text only asks whether it is a number.',
  'bad lines':
    'A bad line is skipped and counted, the others count (contract, "formats in"); Prometheus would discard the scrape.',
  'own timestamps':
    'Series with timestamps of their own end as all others do (design, section 2: staleness is a change of layout).',
  'any failure ends series':
    'A scrape that fails, whatever the reason, ends the series of its target (design, section 2); a limit is such a reason.',
  'series without a name':
    'A series whose name rules take away is dropped, the others count (design, section 5: one bad line never costs a scrape).',
} as const

export type Deviation = { readonly suite: string; readonly name: RegExp; readonly reason: keyof typeof REASONS }

export const DEVIATIONS: readonly Deviation[] = [
  { suite: 'client-python-openmetrics', name: /^\d+ test_native_/, reason: 'native histograms' },
  { suite: 'prometheus-common-expfmt', name: /^7 /, reason: 'one sample a series' },
  { suite: 'prometheus-common-expfmt', name: /^8 /, reason: 'escapes in help' },
  { suite: 'prometheus-common-expfmt', name: /^18 /, reason: 'no last line feed' },
  { suite: 'prometheus-common-expfmt', name: /^(19|54|56) /, reason: 'escapes in values' },
  { suite: 'prometheus-common-expfmt', name: /^(25|37|50|51) /, reason: 'label values are not judged' },
  { suite: 'prometheus-common-expfmt', name: /^(30|31|32) /, reason: 'repeated descriptions' },
  { suite: 'prometheus-common-expfmt', name: /^(61|62|63|64) /, reason: 'values are not judged' },
  { suite: 'real-captures', name: /gardener-ai-conformance/, reason: 'one sample a series' },
  { suite: 'scrape-semantics', name: /^explicit timestamps: no stale marker/, reason: 'own timestamps' },
  { suite: 'scrape-semantics', name: /^sample limit exceeded/, reason: 'any failure ends series' },
  { suite: 'scrape-semantics', name: /^duplicate label names: whole scrape discarded/, reason: 'bad lines' },
  { suite: 'scrape-semantics', name: /^relabelling removes __name__/, reason: 'series without a name' },
]

/** Kinds of cases in scrape-semantics that are about something else than scraping. */
export const OTHER_SUBJECTS: Readonly<Record<string, string>> = {
  'remote-write-client': 'What a sender of remote write does with an answer: for the exporter.',
  'retry-after': 'How long a sender of remote write waits: for the exporter.',
  'nan-bits':
    'No NaN with a meaning travels here (design, section 2); the bits of a staleness marker are for the remote-write exporter.',
}

/** In prometheus-common-expfmt, of the cases about durations, names and writing text. */
export const EXPFMT_DEVIATIONS: Readonly<Record<string, string>> = {
  'duration 1y1m1d':
    'durations are those of Go, in any order of units, as the Collector takes them; weeks and years are additions',
  'duration 1.5d': 'durations are those of Go, which have fractions',
  'unescape-values basic case, no error': 'names arrive as UTF-8 and are never unescaped',
  'unescape-values capitals ok, no error': 'names arrive as UTF-8 and are never unescaped',
  'unescape-values underscores, no error': 'names arrive as UTF-8 and are never unescaped',
  'create 6: Histogram with missing +Inf bucket.': 'histograms travel as the series they came as, and none is made up',
  'create 9: Float histogram without +Inf.': 'histograms travel as the series they came as, and none is made up',
  'create 10: Gauge histogram (rendered as regular histogram)':
    'histograms travel as the series they came as, and none is made up',
  'create 11: Gauge float histogram (rendered as regular histogram)':
    'histograms travel as the series they came as, and none is made up',
  'create 7: No metric type, should result in default type Counter.':
    'a metric without a type is untyped here, never a counter',
  'create error 0': 'a family without samples is not written, which is no error',
  'create error 2': 'a value has no type of its own that could contradict its metric',
}

/** In prometheus-relabel: cases that do not apply, with the reason. */
export const RELABEL_NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'TestRelabelValidate 0': 'the case itself says that in YAML an absent action means replace; then it is case 1',
  'TestRelabelValidate 4': 'legacy label names: names are UTF-8 here, as in Prometheus 3 without a legacy scheme',
  'labelmap.bad.yml': 'a YAML tag with bad base64, which is no matter of relabelling',
}
