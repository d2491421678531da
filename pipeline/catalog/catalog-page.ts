/** The page of an output catalog: every metric, what it is, how it is computed and what a line of it looks like. */
import { computedAs } from './metric-words.ts'
import type { OutputCatalog, OutputMetric, PassRule } from './output-schema.ts'
import { listOf } from './resolve-output.ts'

export type PageOptions = {
  /** The name of the catalog. */
  readonly name: string
  /** A line of a metric as an exporter shows it; undefined if there is none. */
  exampleOf(metric: string): string | undefined
  /** What an option of `roll_up` is for, as its schema says. */
  describe(option: string): string
}

/** Options of `roll_up`, and which metrics each of them changes. */
const OPTIONS: Readonly<Record<string, (metric: OutputMetric) => boolean>> = {
  active_above: ({ aggregate }) => aggregate === 'last_active' || aggregate === 'idle_seconds',
  shared_gpu_memory: ({ of: kind, from }) =>
    (kind === 'pair' && listOf(from).some(name => name.includes('memory'))) ||
    (kind === 'rest' && from === 'gpu_memory'),
  gpu_memory_request: ({ of: kind, from }) => kind === 'pod' && from === 'gpu_memory',
  mig_counts: ({ of: kind, from }) => kind === 'pod' && from === 'gpus',
  unlimited: ({ of: kind }) => kind === 'project_quota' || kind === 'queue_quota',
  reservation_namespaces: ({ of: kind, from }) =>
    kind === 'pair' || kind === 'rest' || (kind === 'pod' && (from === 'gpus' || from === 'gpu_memory')),
}

/** For metrics with weights there is no option: an entry in the config replaces that of the catalog. */
function isWeighted({ of: kind, level, aggregate }: OutputMetric): boolean {
  return kind === 'pair' && level !== 'pair' && aggregate === 'mean'
}

export function catalogPage(catalog: OutputCatalog, options: PageOptions): string {
  const { name } = options
  const { about, metrics, pass } = catalog
  return `# ${name}

Made from \`configs/catalogs/${name}.yaml\` by \`npm run generate\`; change it there.

${about} What \`roll_up\` makes with \`catalog: ${name}\`: ${amount(metrics.length, 'metric')}${pass.length > 0 ? `, and ${pass.length} that pass` : ''}.
Example lines are from the cluster in \`configs/reference/cluster.test.yaml\`.

| metric | unit | labels |
|---|---|---|
${metrics.map(metricRow).join('\n')}
${pass.length > 0 ? `\n${passSection(pass, options)}` : ''}
${optionsSection(metrics, options)}
## Metrics

${metrics.map(metric => metricSection(metric, options)).join('\n')}`
}

function metricRow({ metric, unit, labels }: OutputMetric): string {
  return `| [\`${metric}\`](#${metric}) | ${codeOr(unit, '')} | ${codes(labels)} |`
}

function metricSection(metric: OutputMetric, { exampleOf }: PageOptions): string {
  const { metric: name, help, type, unit, labels, decision, source } = metric
  const example = exampleOf(name)
  const lines = [
    `### ${name}`,
    '',
    help,
    '',
    `- ${type}${unit === '' ? '' : `, in \`${unit}\``}; labels ${codes(labels)}`,
    `- ${computedAs(metric)}`,
    ...(decision === undefined ? [] : [`- ${decision.trim()}`]),
    ...(source === undefined ? [] : [`- Known from: ${source}.`]),
    '',
    ...(example === undefined ? [] : ['```', example, '```', '']),
  ]
  return lines.join('\n')
}

function passSection(pass: readonly PassRule[], { exampleOf }: PageOptions): string {
  const rows = pass.map(({ metric, from, match, drop, labels }) => {
    const wanted = Object.entries(match).map(([label, value]) => `${label}="${value}"`)
    const source = from === undefined ? 'the same' : `\`${from}${wanted.length > 0 ? `{${wanted.join(',')}}` : ''}\``
    const changes = [
      ...(drop.length > 0 ? [`without ${codes(drop)}`] : []),
      ...(labels.length > 0 ? [`with ${codes(labels)}`] : []),
    ]
    return `| \`${metric}\` | ${source} | ${changes.join(', ')} |`
  })
  const examples = pass.map(({ metric }) => exampleOf(metric)).filter(line => line !== undefined)
  return `## What passes

As its source has it, without what \`join_workload\` has added.

| metric | from | labels |
|---|---|---|
${rows.join('\n')}

${examples.length === 0 ? '' : `\`\`\`\n${examples.join('\n')}\n\`\`\`\n`}`
}

function optionsSection(metrics: readonly OutputMetric[], { describe }: PageOptions): string {
  const rows = Object.entries(OPTIONS).flatMap(([option, isChanged]) => {
    const changed = metrics.filter(isChanged)
    return changed.length === 0 ? [] : [`| \`${option}\` | ${describe(option)} | ${namesOf(changed)} |`]
  })
  const weighted = metrics.filter(isWeighted)
  if (weighted.length > 0) {
    const what =
      'Not of `roll_up` but of a metric: an entry under `metrics` with `weight: share` counts a pair as much as the pod has of the GPU.'
    rows.push(`| \`weight\` | ${what} | ${namesOf(weighted)} |`)
  }
  if (rows.length === 0) return ''
  return `## Options that change them

| option of \`roll_up\` | what it is for | metrics |
|---|---|---|
${rows.join('\n')}
`
}

function namesOf(metrics: readonly OutputMetric[]): string {
  return metrics.map(({ metric }) => `[\`${metric}\`](#${metric})`).join(', ')
}

function codes(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map(name => `\`${name}\``).join(', ')
}

function codeOr(text: string, otherwise: string): string {
  return text === '' ? otherwise : `\`${text}\``
}

function amount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
