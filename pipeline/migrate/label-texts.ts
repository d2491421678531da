/** Labels that stand in texts about an expression: legends, templates of alerts, links, fields of tables. */
import { textAt, textsOf, valueAt, type TreeNode, type TreeText } from './document-tree.ts'
import type { Edit } from './edits.ts'
import type { LabelScope } from './label-scope.ts'
import { otherValues } from './rename-label.ts'

export type LabelPlace = { readonly text: TreeText; readonly label: string; readonly start: number }

/** `{{label}}` of legends. */
export function labelsOfLegend(text: TreeText): LabelPlace[] {
  return placesIn(text, /(?<=\{\{\s*)[A-Za-z_]\w*(?=\s*\}\})/g)
}

export function labelsOfTagKeys(text: TreeText): LabelPlace[] {
  return placesIn(text, /[A-Za-z_]\w*/g)
}

const TEMPLATE_LABEL =
  /(?<=(?:\$labels|\.Labels)\.)[A-Za-z_]\w*|(?<=index\s+(?:\$labels|\.Labels)\s+["'`])[A-Za-z_]\w*/g

/** What a rule says of labels: `{{ $labels.label }}` in its texts, and what its alerts are grouped by. */
export function labelsOfRule(rule: TreeNode): LabelPlace[] {
  const templates = ['annotations', 'labels'].flatMap(part => valuesUnder(valueAt(rule, part)))
  return [
    ...templates.filter(({ text }) => text.includes('{{')).flatMap(text => placesIn(text, TEMPLATE_LABEL)),
    ...listOf(valueAt(valueAt(rule, 'notification_settings'), 'group_by')).flatMap(node =>
      node.kind === 'text' ? wholeOf(node) : [],
    ),
  ]
}

const LINK_LABEL = /(?<=\$\{__field\.labels\.)\w+|(?<=\$\{__data\.fields\.)\w+|(?<=\$\{__data\.fields\[["'])\w+/g

/** What a panel says of labels: links, and the fields of a table in the places where a field is certainly meant. */
export function labelsOfPanel(panel: TreeNode): LabelPlace[] {
  const spec = valueAt(panel, 'spec') ?? panel
  const visual = valueAt(valueAt(spec, 'vizConfig'), 'spec') ?? valueAt(spec, 'vizConfig') ?? spec
  const fieldConfig = valueAt(visual, 'fieldConfig')
  const transformations =
    valueAt(spec, 'transformations') ?? valueAt(valueAt(valueAt(spec, 'data'), 'spec'), 'transformations')
  return [
    ...[fieldConfig, valueAt(visual, 'options'), valueAt(spec, 'links')].flatMap(node =>
      valuesUnder(node).flatMap(text => placesIn(text, LINK_LABEL)),
    ),
    ...listOf(valueAt(fieldConfig, 'overrides')).flatMap(override => {
      const matcher = valueAt(override, 'matcher')
      return textAt(matcher, 'id')?.text === 'byName' ? wholeOf(textAt(matcher, 'options')) : []
    }),
    ...listOf(valueAt(visual, 'styles')).flatMap(style => wholeOf(textAt(style, 'pattern'))),
    ...listOf(valueAt(valueAt(visual, 'options'), 'sortBy')).flatMap(sort => wholeOf(textAt(sort, 'displayName'))),
    ...fieldsOfMappings(valueAt(spec, 'mappings')),
    ...listOf(transformations).flatMap(item =>
      fieldsOf(valueAt(item, 'options') ?? valueAt(valueAt(item, 'spec'), 'options')),
    ),
  ]
}

/** Of an annotation: which field becomes which part of it. */
function fieldsOfMappings(mappings: TreeNode | undefined): LabelPlace[] {
  if (mappings?.kind !== 'map') return []
  return mappings.entries.flatMap(({ value }) => {
    const source = textAt(value, 'source')?.text ?? 'field'
    return source === 'field' ? wholeOf(textAt(value, 'value')) : []
  })
}

/** All that a panel says of how its results are shown. */
export function textsOfPanel(panel: TreeNode): TreeText[] {
  return partsOfPanel(panel).flatMap(textsOf)
}

function partsOfPanel(panel: TreeNode): TreeNode[] {
  const spec = valueAt(panel, 'spec') ?? panel
  const parts = ['fieldConfig', 'options', 'transformations', 'mappings', 'styles', 'links', 'vizConfig']
  const newer = valueAt(valueAt(valueAt(spec, 'data'), 'spec'), 'transformations')
  return [...parts.map(part => valueAt(spec, part)), newer].filter(node => node !== undefined)
}

/** Regular expressions that find fields by their names. */
export function regexesOfPanel(panel: TreeNode): TreeText[] {
  return partsOfPanel(panel).flatMap(regexesUnder)
}

function regexesUnder(node: TreeNode): TreeText[] {
  if (node.kind === 'list') return node.items.flatMap(regexesUnder)
  if (node.kind !== 'map') return []
  const isById = textAt(node, 'id')?.text === 'byRegexp'
  return node.entries.flatMap(({ key, value }) => {
    const isRegex = REGEXES.includes(key.text) || (isById && key.text === 'options')
    return value.kind !== 'text' ? regexesUnder(value) : isRegex ? value : []
  })
}

const REGEXES = ['pattern', 'regex']

/** Maps whose keys are fields. */
const KEYED = ['excludeByName', 'includeByName', 'indexByName', 'renameByName', 'fields']
/** Texts, or lists of them, that are fields. */
const NAMED = [
  'byField',
  'field',
  'fieldName',
  'fields',
  'include',
  'keepLabels',
  'valueLabel',
  'names',
  'rowField',
  'columnField',
  'valueField',
]

function fieldsOf(options: TreeNode | undefined): LabelPlace[] {
  if (options?.kind === 'list') return options.items.flatMap(fieldsOf)
  if (options?.kind !== 'map') return []
  return options.entries.flatMap(({ key, value }) => {
    const named = NAMED.includes(key.text)
      ? [value, ...listOf(value)].flatMap(node => (node.kind === 'text' ? wholeOf(node) : []))
      : []
    const keys =
      KEYED.includes(key.text) && value.kind === 'map' ? value.entries.flatMap(entry => wholeOf(entry.key)) : []
    return [...named, ...keys, ...(keys.length === 0 ? fieldsOf(value) : [])]
  })
}

function wholeOf(text: TreeText | undefined): LabelPlace[] {
  return text === undefined || !/^[A-Za-z_]\w*$/.test(text.text) ? [] : [{ text, label: text.text, start: 0 }]
}

function listOf(node: TreeNode | undefined): readonly TreeNode[] {
  return node?.kind === 'list' ? node.items : []
}

function valuesUnder(node: TreeNode | undefined): TreeText[] {
  if (node?.kind === 'text') return [node]
  if (node?.kind === 'list') return node.items.flatMap(valuesUnder)
  return node?.kind === 'map' ? node.entries.flatMap(({ value }) => valuesUnder(value)) : []
}

function placesIn(text: TreeText, pattern: RegExp): LabelPlace[] {
  return Array.from(text.text.matchAll(pattern), ({ 0: label, index }) => ({ text, label, start: index }))
}

type Relabelling = { readonly edit: Edit; readonly note?: string } | { readonly remark: string }

/** What to do about a label in such a text; nothing where it stays. */
export function relabel({ label, start }: LabelPlace, scope: LabelScope): Relabelling | undefined {
  const resolution = scope.resolve(label)
  if (resolution.kind === 'renamed') {
    const edit = { start, end: start + label.length, text: resolution.to }
    return resolution.hasSameValues
      ? { edit }
      : { edit, note: `"${label}" is shown here: ${otherValues(resolution.to)}` }
  }
  if (resolution.kind === 'gone') return { remark: `label "${label}" of ${resolution.metric} has no successor` }
  if (resolution.kind === 'unclear') return { remark: `"${label}" has not one new name for all that is asked for here` }
  return undefined
}
