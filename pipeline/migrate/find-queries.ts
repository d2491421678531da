/**
 * Finds in a document what asks for metrics: `expr` of panels, annotations, rules and alerts wherever they stand, the queries of
 * variables, and dashboards or rules that are texts of another document.
 */
import {
  itemsAt,
  SyntaxProblem,
  textAt,
  valueAt,
  type Spell,
  type TreeMap,
  type TreeNode,
  type TreeText,
} from './document-tree.ts'
import { isOfOtherSource, sourceTypesIn, type SourceTypes } from './data-source.ts'
import { readJson } from './json-tree.ts'
import { readYaml } from './yaml-tree.ts'

export type Query = {
  readonly text: TreeText
  /** Texts in which `{{label}}` stands for a label of the result. */
  readonly legends: readonly TreeText[]
  /** Labels of the result, with commas between them. */
  readonly tagKeys: TreeText | undefined
  /** The names of the series that a rule makes of the result, and the labels that it gives them. */
  readonly made?: { readonly names: readonly string[]; readonly labels: readonly string[] }
}

export type DashboardVariable = {
  readonly name: string
  readonly query: TreeText
  /** Copies of the query, and of its parts. */
  readonly copies: readonly TreeText[]
  readonly metric: TreeText | undefined
  readonly label: TreeText | undefined
  /** Labels that the editor filters by. */
  readonly filtered: readonly TreeText[]
  /** Picks the values from the result. */
  readonly regex: TreeText | undefined
  /** What stands for all values. */
  readonly allValue: TreeText | undefined
}

/** A panel or a rule: what else it says is about the labels of its queries. */
export type QueryGroup = { readonly kind: 'panel' | 'rule'; readonly map: TreeMap; readonly queries: readonly Query[] }

export type Found = {
  readonly queries: readonly Query[]
  readonly variables: readonly DashboardVariable[]
  readonly filters: readonly TreeText[]
  /** Queries in other languages. */
  readonly foreign: readonly TreeText[]
  readonly groups: readonly QueryGroup[]
  /** All other texts, keys included. */
  readonly rest: readonly TreeText[]
  readonly problems: readonly SyntaxProblem[]
}

/** Of the document itself, and of each that is a text in it: variables are those of one dashboard. */
export function findQueries(root: TreeNode): Found[] {
  const inner: Found[] = []
  const queries: Query[] = []
  const variables: DashboardVariable[] = []
  const filters: TreeText[] = []
  const foreign: TreeText[] = []
  const groups: { kind: QueryGroup['kind']; map: TreeMap; queries: Query[] }[] = []
  const rest: TreeText[] = []
  const problems: SyntaxProblem[] = []
  const sources = new Map<string, string>()

  function visit(node: TreeNode, open: readonly { queries: Query[] }[], isOther: boolean): void {
    if (node.kind === 'list') for (const item of node.items) visit(item, open, isOther)
    else if (node.kind === 'text') visitInner(node)
    else if (node.kind === 'map') visitMap(node, open, isOther)
  }

  function visitMap(map: TreeMap, open: readonly { queries: Query[] }[], isOther: boolean): void {
    for (const [name, type] of sourceTypesIn(map)) sources.set(name, type)
    const isOtherHere = isOfOtherSource(map, sources) ?? isOther
    const kind = groupKindOf(map)
    const group = kind === undefined ? undefined : { kind, map, queries: [] }
    if (group !== undefined) groups.push(group)
    const around = group === undefined ? open : [group]
    const query = isOtherHere ? undefined : queryOf(map)
    if (query !== undefined) {
      queries.push(query)
      for (const { queries: its } of around) its.push(query)
    }
    for (const variable of variablesOf(map, sources)) variables.push(variable)
    filters.push(...filtersOf(map))
    if (isOtherHere) foreign.push(...FOREIGN_QUERIES.flatMap(key => textAt(map, key) ?? []))
    for (const { key, value } of map.entries) {
      rest.push(key)
      if (key.text === 'gzipJson') problems.push(new SyntaxProblem('what is compressed is not read', value.start))
      // The last is a hint of Grafana's editor and asks for nothing.
      else if (key.text !== 'expr' && !(key.text === 'metric' && query !== undefined)) visit(value, around, isOtherHere)
    }
  }

  function visitInner(text: TreeText): void {
    const read = innerReader(text.text)
    if (read === undefined) return void rest.push(text)
    try {
      inner.push(
        ...findQueries(
          read(
            text.text,
            index => text.originOf(index),
            added => text.spell(added),
          ),
        ),
      )
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error
      problems.push(error)
    }
  }

  visit(root, [], false)
  return [{ queries, variables, filters, foreign, groups, rest, problems }, ...inner]
}

/** Where other sources have their queries. */
const FOREIGN_QUERIES = ['expr', 'query', 'rawSql', 'rawQuery', 'target']

type Reader = (text: string, toFile: (offset: number) => number | undefined, spellIn: Spell) => TreeNode

function innerReader(text: string): Reader | undefined {
  if (/^\s*\{/.test(text) && /"(expr|templating|panels)"\s*:/.test(text)) return readJson
  return /^\s*(-\s+)?(expr|alert|record):/m.test(text) && /^\s*groups:/m.test(text) ? readYaml : undefined
}

function queryOf(map: TreeMap): Query | undefined {
  const text = textAt(map, 'expr')
  if (text === undefined || text.text.trim() === '') return undefined
  const legends = ['legendFormat', 'titleFormat', 'textFormat'].flatMap(key => textAt(map, key) ?? [])
  const names = namesMade(map)
  const given = valueAt(map, 'labels')
  const labels = given?.kind === 'map' ? given.entries.map(({ key }) => key.text) : []
  return { text, legends, tagKeys: textAt(map, 'tagKeys'), ...(names.length > 0 && { made: { names, labels } }) }
}

/** What alerts fire can be asked for, too, with the labels of their expressions. */
const SERIES_OF_ALERTS = ['ALERTS', 'ALERTS_FOR_STATE']

function namesMade(rule: TreeMap): readonly string[] {
  const name = textAt(rule, 'record')?.text
  if (name !== undefined) return [name]
  return textAt(rule, 'alert') === undefined ? [] : SERIES_OF_ALERTS
}

function groupKindOf(map: TreeMap): QueryGroup['kind'] | undefined {
  if (valueAt(map, 'targets')?.kind === 'list' || textAt(map, 'kind')?.text === 'Panel') return 'panel'
  if (valueAt(map, 'mappings')?.kind === 'map' && valueAt(map, 'target') !== undefined) return 'panel'
  const hasRule = textAt(map, 'alert') !== undefined || textAt(map, 'record') !== undefined
  const hasData = valueAt(map, 'data')?.kind === 'list' && valueAt(map, 'annotations')?.kind === 'map'
  return hasRule || hasData ? 'rule' : undefined
}

function variablesOf(map: TreeMap, sources: SourceTypes): DashboardVariable[] {
  const list = itemsAt(valueAt(map, 'templating'), 'list')
  const newer = itemsAt(map, 'variables').flatMap(item =>
    textAt(item, 'kind')?.text === 'QueryVariable' ? (valueAt(item, 'spec') ?? []) : [],
  )
  return [...list, ...newer].flatMap(item => variableOf(item, sources) ?? [])
}

function variableOf(item: TreeNode, sources: SourceTypes): DashboardVariable | undefined {
  const name = textAt(item, 'name')?.text
  const type = textAt(item, 'type')?.text ?? 'query'
  if (item.kind !== 'map' || name === undefined || type !== 'query' || isOfOtherSource(item, sources)) return undefined
  const value = valueAt(item, 'query')
  if (value?.kind === 'map' && isOfOtherSource(value, sources)) return undefined
  const inner = valueAt(value, 'spec') ?? value
  const query = inner?.kind === 'text' ? inner : (textAt(inner, 'query') ?? textAt(inner, '__legacyStringValue'))
  if (query === undefined || query.text.trim() === '') return undefined
  const copies = [textAt(item, 'definition')].filter(copy => copy?.text === query.text)
  const parts = inner?.kind === 'map' ? inner : undefined
  return {
    name,
    query,
    copies: copies as TreeText[],
    metric: textAt(parts, 'metric'),
    label: textAt(parts, 'label'),
    filtered: itemsAt(parts, 'labelFilters').flatMap(filter => textAt(filter, 'label') ?? []),
    regex: textAt(item, 'regex'),
    allValue: textAt(item, 'allValue'),
  }
}

/** Labels that a dashboard filters or groups all its queries by. */
function filtersOf(map: TreeMap): TreeText[] {
  const variables = [...itemsAt(valueAt(map, 'templating'), 'list'), ...itemsAt(map, 'variables')]
  const filters = variables
    .flatMap(item => [item, valueAt(item, 'spec')])
    .flatMap(item => [...itemsAt(item, 'filters'), ...itemsAt(item, 'baseFilters')])
    .flatMap(filter => textAt(filter, 'key') ?? [])
  const groupings = variables.flatMap(item => {
    const isGrouping = textAt(item, 'type')?.text === 'groupby' || textAt(item, 'kind')?.text === 'GroupByVariable'
    const value = isGrouping ? valueAt(valueAt(valueAt(item, 'spec') ?? item, 'current'), 'value') : undefined
    return value === undefined ? [] : value.kind === 'list' ? value.items : [value]
  })
  return [...filters, ...groupings.filter(node => node.kind === 'text')]
}
