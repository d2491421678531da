/** The reference page: every component, every key, its type, its default, and an example, from the definitions. */
import { stringify } from 'yaml'
import type { Registries } from '../component.ts'
import { KINDS, SECTIONS, type SectionName } from './config-schema.ts'
import { formats } from './formats.ts'
import type { Definition } from './load-section.ts'
import { typeNames } from './schema-messages.ts'
import { isSecret, typesOf, withBranches, type Schema } from './schema-walk.ts'
import { serviceSchema } from './service-schema.ts'

const TITLES: Readonly<Record<SectionName, string>> = {
  receivers: 'Receivers',
  processors: 'Processors',
  exporters: 'Exporters',
  extensions: 'Extensions',
}

export function referencePage(registries: Registries): string {
  const sections = SECTIONS.map(section => {
    const definitions: readonly Definition<SectionName>[] = [...registries[section]].sort((a, b) =>
      a.type < b.type ? -1 : 1,
    )
    return [`## ${TITLES[section]}`, ...definitions.map(definition => describe(section, definition))].join('\n\n')
  })
  return `${[
    '<!-- Generated from the definitions of the components by `npm run generate`. Do not edit. -->',
    '# Configuration reference',
    'Every component and every key it takes. Unknown keys are mistakes. A component stands in the config under its id, `type` or ' +
      '`type/name`. Durations are written `15s` or `1h30m`, sizes `64MiB` or as a number of bytes.',
    ...sections,
    '## Service',
    keyTable(serviceSchema),
  ].join('\n\n')}\n`
}

function describe(
  section: SectionName,
  { type, aliases = [], summary, config, example }: Definition<SectionName>,
): string {
  const older = aliases.length === 0 ? [] : [`Older names: ${aliases.map(code).join(', ')}.`]
  const yaml = stringify({ [section]: { [type]: example } }, { lineWidth: 120 }).trimEnd()
  const keys = keyTable(config as Schema)
  return [`### ${KINDS[section]} ${code(type)}`, summary, ...older, keys, `\`\`\`yaml\n${yaml}\n\`\`\``].join('\n\n')
}

function keyTable(schema: Schema): string {
  const rows = rowsOf(schema, '')
  if (rows.length === 0) return 'It takes no keys.'
  return ['| key | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

function rowsOf(schema: Schema, prefix: string): string[] {
  return withBranches([schema]).flatMap(({ properties = {}, required = [], additionalProperties, items }) => [
    ...Object.entries(properties).flatMap(([key, child]) => [
      row(`${prefix}${key}`, child, required.includes(key)),
      ...rowsOf(child, `${prefix}${key}.`),
    ]),
    ...(typeof additionalProperties === 'object' ? rowsOf(additionalProperties, `${prefix}*.`) : []),
    ...(items === undefined ? [] : rowsOf(items, `${prefix.replace(/\.$/, '')}[].`)),
  ])
}

function row(key: string, schema: Schema, isRequired: boolean): string {
  const fallback = isRequired ? 'required' : schema.default === undefined ? '' : code(JSON.stringify(schema.default))
  const secret = isSecret([schema]) ? ' Never shown.' : ''
  return `| ${code(key)} | ${cell(typeOf(schema))} | ${cell(fallback)} | ${cell((schema.description ?? '') + secret)} |`
}

function typeOf(schema: Schema): string {
  const { format, enum: choices, items } = schema
  if (choices !== undefined) return [...new Set(choices.map(choice => code(String(choice))))].join(', ')
  if (format !== undefined && Object.hasOwn(formats, format)) return format.replaceAll('_', ' ')
  const types = typesOf([schema])
  if (types === undefined) return 'anything'
  const name = typeNames([...types]).replace(/^an? /, '')
  return items === undefined ? name : `${name} of ${typeOf(items)}`
}

function code(text: string): string {
  return `\`${text}\``
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
