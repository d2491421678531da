/** Whether something of a dashboard is asked of Prometheus or of what speaks its language; other sources call their queries `expr`, too. */
import { itemsAt, textAt, valueAt, type TreeMap, type TreeNode } from './document-tree.ts'

/** Types of data sources that take PromQL. */
const PROMETHEUS = /prometheus|victoriametrics-(metrics-)?datasource|thanos|mimir|cortex/i
/** Names, which people choose, of other sources. */
const OTHERS = /loki|logs|tempo|elastic|influx|graphite|cloudwatch|sql|pyroscope|postgres|clickhouse|infinity|testdata/i

/** Types of the sources that variables of a dashboard stand for, by their names. */
export type SourceTypes = ReadonlyMap<string, string>

/** Variables that choose a data source, and what a dashboard asks for when it is imported. */
export function sourceTypesIn(map: TreeNode): [name: string, type: string][] {
  const spec = (item: TreeNode) => valueAt(item, 'spec') ?? item
  const variables = [...itemsAt(valueAt(map, 'templating'), 'list'), ...itemsAt(map, 'variables').map(spec)]
  return [...variables, ...itemsAt(map, '__inputs')].flatMap(item => {
    const name = textAt(item, 'name')?.text
    const isSource = textAt(item, 'type')?.text === 'datasource'
    const type = textAt(item, 'pluginId')?.text ?? (isSource ? textAt(item, 'query')?.text : undefined)
    return name === undefined || !type ? [] : [[name, type] as [string, string]]
  })
}

/** Undefined where a map does not say where its data is from. */
export function isOfOtherSource(map: TreeMap, sources: SourceTypes): boolean | undefined {
  // Rules of Loki, which look like those of Prometheus.
  if (textAt(map, 'apiVersion')?.text.startsWith('loki.') === true) return true
  const type = typeOf(map)
  // Mixed sources say it query by query, and a variable as a source says nothing by itself.
  if (type !== undefined && !/^(datasource|grafana|-- .* --)$|^[$[]/.test(type)) return !PROMETHEUS.test(type)
  const source = valueAt(map, 'datasource')
  const name = source?.kind === 'text' ? source.text : textAt(source, 'uid')?.text
  const chosen = sources.get(/^(?:\$\{?|\[\[)(\w+)/.exec(name ?? '')?.[1] ?? '')
  if (chosen !== undefined) return !PROMETHEUS.test(chosen)
  return source?.kind === 'text' ? OTHERS.test(source.text) && !PROMETHEUS.test(source.text) : undefined
}

/** The newer layout has it as the kind of a query, or as the group of one. */
function typeOf(map: TreeMap): string | undefined {
  const kind = valueAt(map, 'spec')?.kind === 'map' ? textAt(map, 'kind')?.text : undefined
  if (kind === 'DataQuery') return textAt(map, 'group')?.text
  if (kind !== undefined && /^[a-z]/.test(kind)) return kind
  return textAt(valueAt(map, 'datasource'), 'type')?.text
}
