/** What stands in a legacy catalog: the names of an older generation of a vocabulary, as differences to the next one. */
import type { FromSchema } from 'json-schema-to-ts'

/** What became of a metric. */
export const STATUSES = [
  'same',
  'api-only',
  'renamed',
  'labels-changed',
  'unit-changed',
  'duplicate',
  'removed',
] as const
export type Status = (typeof STATUSES)[number]

const labels = { type: 'array', items: { type: 'string', minLength: 1 } } as const

const metricSchema = {
  type: 'object',
  properties: {
    metric: { type: 'string', minLength: 1, description: 'The older name; `{0..17}` stands for as many.' },
    becomes: {
      type: 'string',
      minLength: 1,
      description: 'The name that the next generation has for it, if it has one.',
    },
    beside: {
      type: 'boolean',
      default: false,
      description: 'Whether the older generation has the newer name, too, as a metric of its own.',
    },
    status: {
      type: 'string',
      enum: STATUSES,
      description: 'What its owner says of it; worked out where this is missing.',
    },
    help: { type: 'string', minLength: 1, description: 'One sentence; that of the newer metric if this is missing.' },
    unit: { type: 'string', description: 'Its unit, where it is not that of the newer metric.' },
    new_unit: { type: 'string', description: 'The unit of the newer metric, where the next catalog does not say it.' },
    labels: { ...labels, description: 'All its labels; those of the newer metric if this is missing.' },
    variants: {
      type: 'object',
      default: {},
      additionalProperties: {
        type: 'object',
        properties: {
          labels: { ...labels, description: 'All its labels.' },
          unit: { type: 'string', description: 'Its unit.' },
        },
        additionalProperties: false,
      },
      description: 'Other shapes that it has, by variant: what differs.',
    },
    fixed: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'Labels that the newer metric has and this name implies, with their values.',
    },
    successors: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'Labels that have other names on this metric alone, beside those of the catalog.',
    },
    reason: { type: 'string', minLength: 1, description: 'Why there is no newer metric, or no way to compute it.' },
    computed: { type: 'string', minLength: 1, description: 'The output catalog by which `roll_up` still makes it.' },
    api: { type: 'string', minLength: 1, description: 'What the API of its owner calls it.' },
    unverified: { type: 'boolean', default: false, description: 'No source confirms the newer name.' },
    decision: { type: 'string', minLength: 1, description: 'Why it is translated so, where its owner does not say.' },
    source: { type: 'string', minLength: 1, description: 'Where this is known from.' },
  },
  required: ['metric', 'source'],
  additionalProperties: false,
} as const

export const legacySchema = {
  type: 'object',
  properties: {
    kind: { const: 'legacy', description: 'What this file is.' },
    about: { type: 'string', description: 'Whose names these are, in a sentence.' },
    successor: {
      type: 'string',
      minLength: 1,
      description: 'The catalog of the next generation; the newest generation has none.',
    },
    prefixes: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description:
        'What the names of its metrics begin with, where nobody lists them: their labels get other names, too, where they keep their own.',
    },
    variants: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Names of the shapes that some metrics have, the usual one first.',
    },
    labels: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'By the name of a label what it is, as in output catalogs, where the successor does not say it.',
    },
    successors: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'By the name of a label the one that stands in its place in the next generation.',
    },
    told_units: {
      type: 'object',
      default: {},
      additionalProperties: {
        type: 'object',
        properties: {
          unit: { type: 'string', description: 'The unit.' },
          help: {
            type: 'array',
            items: { type: 'string', minLength: 1 },
            minItems: 1,
            description: 'Words, one of which its help has then.',
          },
        },
        required: ['unit', 'help'],
        additionalProperties: false,
      },
      description: 'By the name of a metric another unit that it is in where its source says so.',
    },
    added: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Metrics that came with the next generation.',
    },
    metrics: { type: 'array', items: metricSchema, default: [], description: 'What differs.' },
  },
  required: ['kind', 'about'],
  additionalProperties: false,
} as const

export type LegacyCatalog = FromSchema<typeof legacySchema>
export type LegacyMetric = LegacyCatalog['metrics'][number]
