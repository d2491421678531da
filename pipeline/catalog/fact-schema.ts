/** What a fact is: its name, unit, type and valid range. Shared facts stand in `facts.yaml`, those of one source in its catalog. */
import type { FromSchema } from 'json-schema-to-ts'

/** What is said about a fact, wherever it is defined. */
export const definitionProperties = {
  unit: {
    type: 'string',
    description: 'Base unit in UCUM: 1 (a ratio), By, s, J, W, Hz, Cel, or what is counted: {error}.',
  },
  type: {
    type: 'string',
    enum: ['gauge', 'counter', 'info', 'stateset'],
    description: 'What it truly is, whatever a source declares.',
  },
  range: {
    type: 'array',
    items: { type: 'number' },
    minItems: 2,
    maxItems: 2,
    description:
      'Smallest and largest value that can be, in the unit of the fact. A value outside is dropped and counted.',
  },
  help: { type: 'string', minLength: 1, description: 'One sentence. Without it the help of the source stays.' },
  of: {
    type: 'string',
    enum: ['board', 'device'],
    description:
      'Of what it is a reading: `board` is the whole GPU, also where it is cut into instances; `device` is the GPU or the instance.',
  },
  pod_fact: {
    type: 'string',
    description: 'The fact that a reading of one pod becomes, where a source has such beside that of the device.',
  },
  opentelemetry: {
    type: 'string',
    description: 'What the semantic conventions call it, where they need attributes to tell it from others.',
  },
} as const

export const factsSchema = {
  type: 'object',
  properties: {
    kind: { const: 'facts', description: 'What this file is.' },
    facts: {
      type: 'array',
      description: 'The facts that several sources give.',
      items: {
        type: 'object',
        properties: {
          fact: { type: 'string', minLength: 1, description: 'Its name.' },
          ...definitionProperties,
        },
        required: ['fact', 'unit', 'type', 'range', 'help'],
        additionalProperties: false,
      },
    },
  },
  required: ['kind', 'facts'],
  additionalProperties: false,
} as const

export type FactsFile = FromSchema<typeof factsSchema>

/** A fact as it is defined. */
export type Fact = {
  readonly name: string
  readonly unit: string
  readonly type: 'gauge' | 'counter' | 'info' | 'stateset'
  readonly range: { readonly min: number; readonly max: number }
  readonly help: string | undefined
  readonly of: 'board' | 'device' | undefined
  readonly podFact: string | undefined
}

export function factFrom(name: string, definition: Partial<FactsFile['facts'][number]>): Fact {
  const { unit = '', type = 'gauge', range = [], help, of, pod_fact: podFact } = definition
  const [min = -Infinity, max = Infinity] = range
  return { name, unit, type, range: { min, max }, help, of, podFact }
}
