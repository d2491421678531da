/** Labels that stand in texts about an expression: legends, templates of alerts, links, fields of tables. */
import { textAt, valueAt, type TreeNode, type TreeText } from './document-tree.ts'
import type { Edit } from './edits.ts'
import type { LabelScope } from './label-scope.ts'

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

/** `{{ $labels.label }}` of alerts, in all texts under a node. */
export function labelsOfTemplates(node: TreeNode | undefined): LabelPlace[] {
  return valuesUnder(node)
    .filter(({ text }) => text.includes('{{'))
    .flatMap(text => placesIn(text, TEMPLATE_LABEL))
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
    ...listOf(transformations).flatMap(item =>
      fieldsOf(valueAt(item, 'options') ?? valueAt(valueAt(item, 'spec'), 'options')),
    ),
  ]
}

/** Maps whose keys are fields. */
const KEYED = ['excludeByName', 'includeByName', 'indexByName', 'renameByName', 'fields']
/** Texts, or lists of them, that are fields. */
const NAMED = ['byField', 'field', 'keepLabels', 'valueLabel', 'names', 'rowField', 'columnField', 'valueField']

function fieldsOf(options: TreeNode | undefined): LabelPlace[] {
  if (options?.kind === 'list') return options.items.flatMap(fieldsOf)
  if (options?.kind !== 'map') return []
  return options.entries.flatMap(({ key, value }) => {
    if (NAMED.includes(key.text))
      return [value, ...listOf(value)].flatMap(node => (node.kind === 'text' ? wholeOf(node) : []))
    if (KEYED.includes(key.text) && value.kind === 'map') return value.entries.flatMap(entry => wholeOf(entry.key))
    return fieldsOf(value)
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

/** What to do about a label in such a text; nothing where it stays. */
export function relabel(
  { label, start }: LabelPlace,
  scope: LabelScope,
): Edit | { readonly remark: string } | undefined {
  const resolution = scope.resolve(label)
  if (resolution.kind === 'renamed') return { start, end: start + label.length, text: resolution.to }
  if (resolution.kind === 'gone') return { remark: `label "${label}" of ${resolution.metric} has no successor` }
  if (resolution.kind === 'unclear') return { remark: `"${label}" has not one new name for all that is asked for here` }
  return undefined
}
