/** The schema of a whole config, put together from the definitions of all components. */
import type { Registries } from '../component.ts'
import type { Schema } from './schema-walk.ts'
import { serviceSchema } from './service-schema.ts'

export const SECTIONS = ['receivers', 'processors', 'exporters', 'extensions'] as const
export type SectionName = (typeof SECTIONS)[number]

/** One of a section, in a sentence. */
export const KINDS: Readonly<Record<SectionName, string>> = {
  receivers: 'receiver',
  processors: 'processor',
  exporters: 'exporter',
  extensions: 'extension',
}

const DESCRIPTIONS: Readonly<Record<SectionName, string>> = {
  receivers: 'Where data comes from, by id.',
  processors: 'What is done to it on its way, by id.',
  exporters: 'Where it goes, by id.',
  extensions: 'What else runs in the process, by id. Only those that `service.extensions` names are started.',
}

export function configSchema(registries: Registries): Schema {
  const sections = SECTIONS.map(section => [section, sectionSchema(registries, section)] as const)
  return { type: 'object', properties: { ...Object.fromEntries(sections), service: serviceSchema } }
}

function sectionSchema(registries: Registries, section: SectionName): Schema {
  const patterns = registries[section].map(({ type, aliases = [], config, summary, example }) => [
    `^(${[type, ...aliases].join('|')})(/.*)?$`,
    { description: summary, ...(config as Schema), examples: [example] },
  ])
  return {
    type: 'object',
    patternProperties: Object.fromEntries(patterns) as Record<string, Schema>,
    additionalProperties: false,
    description: DESCRIPTIONS[section],
  }
}
