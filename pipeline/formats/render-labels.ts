/**
 * The label sets of a layout as bytes: `{a="b",c="d"} `, ready to stand between a metric's name and its value. Made once for a
 * layout, and only for those that its predecessor did not have.
 */
import { labelPairs, labelsFrom, type Labels } from '../model/labels.ts'
import type { Layout } from '../model/layout.ts'
import { translateLabels, type TranslationStrategy } from './prometheus-naming.ts'
import { escapeLabelName, isPlainLabelName, type Escaping } from './render-names.ts'
import { pause, type Work } from './render-work.ts'
import { packBlocks, type Blocks } from './render-blocks.ts'

export type LabelTable = {
  /** The label sets as readers see them: escaped, with those that every series gets. The layout's own list where nothing differs. */
  readonly exposed: readonly Labels[]
  /** A series without labels has only the blank. */
  readonly blocks: Blocks
}

export type LabelStyle = {
  readonly escaping: Escaping
  /** What every series gets that has no such label of its own. */
  readonly added: Labels
  /** Where labels are attributes by OTLP's names. */
  readonly strategy?: TranslationStrategy
  /** Told where attributes have become one label. */
  readonly joined?: (label: string, attributes: readonly string[]) => void
}

/** How far beyond a block or a name whoever copies in strides reads at most. */
export const SLACK = 32
/** What is the same in several layouts is kept once; `origin` says for each label set its number in the previous layout, or -1. */
export type LabelWork = { readonly table: LabelTable; readonly origin: Int32Array }

export function* renderLabels(
  layout: Layout,
  style: LabelStyle,
  previous: { readonly layout: Layout; readonly table: LabelTable } | undefined,
): Work<LabelWork> {
  const { labels } = layout
  const origin =
    previous === undefined ? new Int32Array(labels.length).fill(-1) : yield* originOf(layout, previous.layout)
  // Mostly none differs, and there is no second list of them.
  let differing: Labels[] | undefined
  for (let i = 0; i < labels.length; i++) {
    const known = origin[i]!
    const one = known >= 0 ? previous!.table.exposed[known]! : expose(labels[i]!, style)
    if (one !== labels[i]) differing ??= labels.slice(0, i)
    differing?.push(one)
    if ((i & 0xff) === 0xff && i < labels.length - 1) yield pause
  }
  const exposed = differing ?? labels
  const blocks = yield* packBlocks(origin, previous?.table.blocks, i => blockOf(exposed[i]!), SLACK)
  return { table: { exposed, blocks }, origin }
}

/** Where each label set of a layout stood in an earlier layout of the same source. */
function* originOf(layout: Layout, previous: Layout): Work<Int32Array> {
  const origin = new Int32Array(layout.labels.length).fill(-1)
  if (layout.keptFrom?.id === previous.id) {
    const { runs } = layout.keptFrom
    for (let run = 0; run < runs.length; run += 3) {
      const [to, from, length] = [runs[run]!, runs[run + 1]!, runs[run + 2]!]
      for (let i = 0; i < length; i++) {
        origin[layout.labelsOf[to + i]!] = previous.labelsOf[from + i]!
        if ((i & 0xffff) === 0xffff) yield pause
      }
      if ((run & 0xfff) === 0) yield pause
    }
    return origin
  }
  // Layouts came and went between two scrapes: look for the objects themselves.
  const numbers = new Map<Labels, number>()
  for (let i = 0; i < previous.labels.length; i++) {
    numbers.set(previous.labels[i]!, i)
    if ((i & 0xfff) === 0xfff) yield pause
  }
  for (let i = 0; i < layout.labels.length; i++) {
    origin[i] = numbers.get(layout.labels[i]!) ?? -1
    if ((i & 0xfff) === 0xfff) yield pause
  }
  return origin
}

/** Label sets of one exporter share the list of their names, so this is asked and answered once for all of them. */
const plainLists = new WeakMap<readonly string[], boolean>()

export function hasPlainNames({ names }: Labels): boolean {
  let plain = plainLists.get(names)
  if (plain === undefined) plainLists.set(names, (plain = names.every(isPlainLabelName)))
  return plain
}

function expose(given: Labels, { escaping, added, strategy, joined }: LabelStyle): Labels {
  const labels = strategy === undefined ? given : translateLabels(given, strategy, joined)
  const keepsNames = escaping === 'allow-utf-8' || (escaping !== 'dots' && hasPlainNames(labels))
  if (keepsNames && added.names.length === 0) return labels
  const pairs = new Map<string, string>()
  for (const [name, value] of labelPairs(labels)) {
    const escaped = escapeLabelName(name, escaping)
    // Two names may have become one; a label that is there twice would cost the reader the series.
    const known = pairs.get(escaped)
    pairs.set(escaped, known === undefined ? value : `${known};${value}`)
  }
  for (const [name, value] of labelPairs(added)) {
    const escaped = escapeLabelName(name, escaping)
    if (!pairs.has(escaped)) pairs.set(escaped, value)
  }
  return labelsFrom(pairs)
}

function blockOf({ names, values }: Labels): string {
  if (names.length === 0) return ' '
  let block = '{'
  for (let i = 0; i < names.length; i++) {
    block += `${i === 0 ? '' : ','}${quotedIfNeeded(names[i]!, isPlainLabelName)}="${escapeText(values[i]!)}"`
  }
  return `${block}} `
}

export function quotedIfNeeded(name: string, isPlain: (name: string) => boolean): string {
  return isPlain(name) ? name : `"${escapeText(name)}"`
}

/** Label values and quoted names; also help texts in OpenMetrics. */
export function escapeText(text: string): string {
  if (!/[\\"\n]/.test(text)) return text
  return text.replace(/[\\"\n]/g, found => (found === '\n' ? '\\n' : `\\${found}`))
}
