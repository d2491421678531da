/** The formats that Prometheus lets users name. */
import type { Dialect } from '../../pipeline/formats/sample-line.ts'

export const PROTOCOLS = [
  'PrometheusText0.0.4',
  'PrometheusText1.0.0',
  'OpenMetricsText0.0.1',
  'OpenMetricsText1.0.0',
] as const
export type Protocol = (typeof PROTOCOLS)[number]

const MEDIA_TYPES: Record<Protocol, string> = {
  'PrometheusText0.0.4': 'text/plain;version=0.0.4',
  'PrometheusText1.0.0': 'text/plain;version=1.0.0;escaping=allow-utf-8',
  'OpenMetricsText0.0.1': 'application/openmetrics-text;version=0.0.1',
  'OpenMetricsText1.0.0': 'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8',
}

/** Asks for these, the first most of all, and takes what else there is. */
export function acceptHeader(protocols: readonly Protocol[]): string {
  const types = protocols.map((protocol, i) => `${MEDIA_TYPES[protocol]};q=0.${protocols.length + 1 - i}`)
  return [...types, '*/*;q=0.1'].join(',')
}

export function dialectOfProtocol(protocol: Protocol): Dialect {
  return protocol.startsWith('OpenMetrics') ? 'openmetrics' : 'text'
}
