/** Whether something of a dashboard is asked of Prometheus or of what speaks its language; other sources call their queries `expr`, too. */
import { textAt, valueAt, type TreeMap } from './document-tree.ts'

/** Types of data sources that take PromQL. */
const PROMETHEUS = /prometheus|victoriametrics-(metrics-)?datasource|thanos|mimir|cortex/i
/** Names, which people choose, of other sources. */
const OTHERS = /loki|logs|tempo|elastic|influx|graphite|cloudwatch|sql|pyroscope|postgres|clickhouse|infinity|testdata/i

/** Undefined where a map does not say where its data is from. */
export function isOfOtherSource(map: TreeMap): boolean | undefined {
  const type = typeOf(map)
  // Mixed sources say it query by query, and a variable as a source says nothing.
  if (type !== undefined && !/^(datasource|grafana|-- .* --)$|^[$[]/.test(type)) return !PROMETHEUS.test(type)
  const source = valueAt(map, 'datasource')
  return source?.kind === 'text' ? OTHERS.test(source.text) && !PROMETHEUS.test(source.text) : undefined
}

/** The newer layout has it as the kind of a query, or as the group of one. */
function typeOf(map: TreeMap): string | undefined {
  const kind = valueAt(map, 'spec')?.kind === 'map' ? textAt(map, 'kind')?.text : undefined
  if (kind === 'DataQuery') return textAt(map, 'group')?.text
  if (kind !== undefined && /^[a-z]/.test(kind)) return kind
  return textAt(valueAt(map, 'datasource'), 'type')?.text
}
