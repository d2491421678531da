/** Makes of the translation between two catalogs what the rewriting needs of it. */
import type { MetricTranslation, ShapeTranslation, Translation } from '../catalog/translation.ts'
import { ONE } from '../model/scale.ts'
import { isSame, type LabelChange, type MetricChange, type Vocabulary } from './vocabulary.ts'

/** `back` is the translation in the other direction. */
export function vocabularyOf(translation: Translation, back: Translation): Vocabulary {
  const { from, to, metrics } = translation
  const changes = new Map<string, readonly MetricChange[]>()
  const computed = new Map(
    translation.removed.flatMap(({ metric, computed: by }) => (by === undefined ? [] : [[metric, by]])),
  )
  for (const [name, translations] of metrics) {
    const all = translations.map(one => ({
      ...changeOf(one, wayBackOf(one, back)),
      ...(one.to === undefined && { reason: reasonOf(one.reason, computed.get(name)) }),
    }))
    if (!all.every(isSame)) changes.set(name, all)
  }
  function other(name: string): MetricChange | undefined {
    const found = translation.other(name)
    return found === undefined ? undefined : changeOf(found, 'name')
  }
  const isNewName = (name: string) =>
    !metrics.has(name) && back.metrics.get(name)?.every(one => one.to !== name) === true
  function namesakes(name: string): MetricChange[] {
    const all = back.metrics.get(name) ?? []
    return all[0]?.to === name ? all.slice(1).map(one => changeOf(one, 'name')) : []
  }
  return { from: from.name, to: to.name, changes, other, namesakes, isNewName }
}

function reasonOf(reason: string | undefined, computed: string | undefined): string | undefined {
  return computed === undefined ? reason : `${reason} \`roll_up\` still makes it by the catalog ${computed}.`
}

function wayBackOf({ from, to }: MetricTranslation, back: Translation): MetricChange['wayBack'] {
  if (to === undefined || from === to) return 'name'
  const candidates = back.metrics.get(to) ?? []
  const index = candidates.findIndex(candidate => candidate.to === from)
  const found = candidates[index]?.shapes[0]
  if (found === undefined) return 'none'
  if (index === 0 || Object.keys(found.labels.match).length > 0) return 'name'
  return found.scale === ONE ? 'none' : 'factor'
}

function changeOf(
  { from: name, to, reason, shapes, isUnverified }: MetricTranslation,
  wayBack: MetricChange['wayBack'],
): MetricChange {
  const [usual, ...others] = shapes
  const labels = labelsOf(usual)
  const unusualLabels = new Map(others.flatMap(shape => [...labelsOf(shape)]).filter(([label]) => !labels.has(label)))
  const { added = [], fixed = {}, match = {} } = usual?.labels ?? {}
  const scale = usual?.scale ?? ONE
  const hasKnownLabels = usual?.from !== undefined && usual.to !== undefined
  return {
    name,
    to,
    reason,
    labels,
    hasKnownLabels,
    unusualLabels,
    added,
    fixed,
    match,
    scale,
    wayBack,
    isUnverified,
  }
}

function labelsOf(shape: ShapeTranslation | undefined): Map<string, LabelChange> {
  const labels = new Map<string, LabelChange>()
  for (const { from, to, sameValue, areIds } of shape?.labels.renamed ?? []) {
    labels.set(from, { to, hasSameValues: sameValue, isId: areIds })
  }
  for (const label of shape?.labels.removed ?? []) labels.set(label, { to: undefined, hasSameValues: false })
  return labels
}
