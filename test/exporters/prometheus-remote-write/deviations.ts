/**
 * Where the sender differs from the suites, and why. A case that is listed here must differ.
 *
 * What cases say of native histograms and exemplars holds because there are none: histograms travel as their classic series and
 * exemplars are counted and left out where they are read, and the suites only ask what they must look like if they are sent.
 */
export type Deviation = { readonly name: string; readonly reason: string }

export const DEVIATIONS: readonly Deviation[] = [
  {
    name: 'symbols/string_deduplication',
    reason: 'of a series that an exposition has twice the first sample counts; symbols are there once all the same',
  },
  {
    name: '429 without retry_on_http_429',
    reason:
      'nothing that can be delivered is given up: 429 is always tried again, which the protocol allows, as Retry-After says',
  },
]
