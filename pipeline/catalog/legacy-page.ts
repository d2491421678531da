/** The page of a legacy catalog: what became of every metric, and what cannot be had any more. */
import type { Generation } from './generation.ts'
import type { LegacyCatalog, LegacyMetric } from './legacy-schema.ts'
import { expandNames } from './name-pattern.ts'
import type { MetricTranslation, ShapeTranslation, Translation } from './translation.ts'

/** `translation` leads from the catalog to its successor. */
export function legacyPage(catalog: LegacyCatalog, translation: Translation): string {
  const { name } = translation.from
  const newer = translation.to.name
  const { about, metrics, variants, added } = catalog
  const translated = metrics.filter(({ becomes }) => becomes !== undefined)
  const removed = metrics.filter(({ becomes }) => becomes === undefined)
  return `# ${name}

Made from \`configs/catalogs/${name}.yaml\` by \`npm run generate\`; change it there.

${about} What differs from \`${newer}\`, for the processor \`rename\` in either direction:

\`\`\`yaml
rename: { from: ${newer}, to: ${name}, keep_original: true } # older names beside the newer ones
rename/new: { from: ${name}, to: ${newer} } # a source that still has older names
\`\`\`

## Metrics

A label in the place of another has its value (\`a = b\`), or one that is looked up (\`a → b\`). What is looked up (\`+ a\`) is found by the
other ids of the series; where nobody knows these, the series is left out. Values are multiplied on the way to the newer metric.

| ${name} | ${newer} | labels | value |
|---|---|---|---|
${translated.map(metric => metricRow(metric, translation)).join('\n')}
${labelsSection(catalog, translation)}${variantsSection(translated, variants, translation)}${notesSection(translated)}${removedSection(removed, newestOf(translation.to))}${addedSection(added, name)}`
}

function metricRow(metric: LegacyMetric, translation: Translation): string {
  const { becomes, beside, unverified, status } = metric
  const remarks = [
    ...(status === 'api-only' ? ['also in the API'] : []),
    ...(status === 'duplicate' ? ['of which it was a copy'] : []),
    ...(beside && status !== 'duplicate' ? ['which was there, too'] : []),
    ...(unverified ? ['unverified'] : []),
  ]
  const newer = becomes === metric.metric ? 'the same' : `\`${becomes}\``
  const shape = translationOf(metric, translation)?.shapes[0]
  const cells = [`\`${metric.metric}\``, [newer, ...remarks].join(', '), labelsCell(shape, metric), valueCell(shape)]
  return `| ${cells.join(' | ')} |`
}

/** Of several metrics in one row they are all alike. One that is the same in every way has none. */
function translationOf({ metric }: LegacyMetric, { metrics }: Translation): MetricTranslation | undefined {
  return metrics.get(expandNames(metric)[0]!)?.[0]
}

function labelsCell(shape: ShapeTranslation | undefined, { successors }: LegacyMetric): string {
  if (shape === undefined) return ''
  const { renamed, removed, added, fixed } = shape.labels
  // Where nobody says which labels there are, those that have other names are the same for all metrics.
  const pairs = renamed.filter(({ from }) => shape.from !== undefined || Object.hasOwn(successors, from))
  return [
    ...pairs.map(({ from, to, sameValue }) => `\`${from}\` ${sameValue ? '=' : '→'} \`${to}\``),
    ...removed.map(label => `− \`${label}\``),
    ...added.map(label => `+ \`${label}\``),
    ...Object.entries(fixed).map(([label, value]) => `+ \`${label}="${value}"\``),
  ].join(', ')
}

function valueCell(shape: ShapeTranslation | undefined): string {
  if (shape === undefined) return ''
  const { scale, units } = shape
  if (scale.multiply === scale.divide) return ''
  const factor = scale.divide === 1 ? `× ${scale.multiply}` : `÷ ${scale.divide}`
  return `${factor}, ${units.from} to ${units.to}`
}

/** Where a catalog does not say which labels metrics have. */
function labelsSection({ successors, prefixes }: LegacyCatalog, { from }: Translation): string {
  if (from.isClosed || Object.keys(successors).length === 0) return ''
  return `
## Labels

Other names for the same, on all of these metrics${prefixes.length === 0 ? '' : ` and others that begin with ${prefixes.map(prefix => `\`${prefix}\``).join(', ')}`}:

${Object.entries(successors)
  .map(([older, newer]) => `- \`${older}\` = \`${newer}\``)
  .join('\n')}
`
}

function variantsSection(
  metrics: readonly LegacyMetric[],
  variants: readonly string[],
  translation: Translation,
): string {
  if (variants.length === 0) return ''
  const rows = metrics.flatMap(metric =>
    Object.keys(metric.variants).map((variant, i) => {
      const shape = translationOf(metric, translation)?.shapes[i + 1]
      return `| \`${metric.metric}\` | ${variant} | ${labelsCell(shape, metric)} | ${valueCell(shape)} |`
    }),
  )
  return `
## Variants

Some metrics are described in several ways. Emitted is \`variant: ${variants[0]}\` unless \`rename\` is told otherwise; what comes in is
recognised by its labels.

| metric | variant | labels | value |
|---|---|---|---|
${rows.join('\n')}
`
}

function notesSection(metrics: readonly LegacyMetric[]): string {
  const notes = metrics.filter(({ decision }) => decision !== undefined)
  if (notes.length === 0) return ''
  return `
## Decisions

${notes.map(({ metric, decision }) => `- \`${metric}\`: ${decision!.trim()}`).join('\n')}
`
}

/** Which has the metrics that `roll_up` makes. */
function newestOf({ name, next }: Generation): string {
  return next === undefined ? name : newestOf(next)
}

function removedSection(metrics: readonly LegacyMetric[], newer: string): string {
  if (metrics.length === 0) return ''
  const rows = metrics.map(({ metric, labels = [], reason, computed, api }) => {
    const made =
      computed === undefined
        ? 'no'
        : `yes, with \`catalog: [${newer}, ${computed}]\` of \`roll_up\` ([page](${computed}.md))`
    const also = api === undefined ? '' : ` In the API of its owner it is ${api}.`
    return `| \`${metric}\` | ${labels.map(label => `\`${label}\``).join(', ')} | ${made} | ${reason!.trim()}${also} |`
  })
  return `
## No more

| metric | labels | still made | why |
|---|---|---|---|
${rows.join('\n')}
`
}

function addedSection(added: readonly string[], name: string): string {
  if (added.length === 0) return ''
  return `
## Newer

Not in \`${name}\`, and left as it is: ${added.map(metric => `\`${metric}\``).join(', ')}.
`
}
