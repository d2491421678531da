/** What OTLP destinations differ in. A config may say all of it, and what it leaves out is said by the vendor's preset. */
import type { FromSchema } from 'json-schema-to-ts'
import { size } from '../config/fields.ts'

const maxLength = { type: 'integer', minimum: 1, description: 'Longer ones are cut.' } as const

const characters = {
  type: 'string',
  minLength: 1,
  description: 'Characters that may be in it, as in a regular expression (`a-z0-9_.`); others become underscores.',
} as const

const firstCharacters = {
  type: 'string',
  minLength: 1,
  description: 'Characters that it may begin with; one that begins with another gets an `x` in front.',
} as const

export const otlpSettings = {
  encoding: {
    type: 'string',
    enum: ['proto', 'json'],
    description: 'How requests are written; `proto` unless the vendor wants something else.',
  },
  compression: {
    type: 'string',
    enum: ['gzip', 'zstd', 'none'],
    description: 'How requests are compressed; `gzip` unless the vendor wants something else.',
  },
  temporality: {
    type: 'string',
    enum: ['cumulative', 'delta'],
    description:
      'Whether counters and histograms are sent as they count, from their beginning, or as increases since the sample before. `cumulative` unless the vendor wants something else. What arrives as increases is sent as increases.',
  },
  nan: {
    type: 'string',
    enum: ['keep', 'drop'],
    description:
      'What happens to points that are no number or infinite: they are sent as they are, or left out and counted. `keep` unless the vendor wants something else.',
  },
  summaries: {
    type: 'string',
    enum: ['keep', 'drop'],
    description: 'Whether summaries are sent, or left out and counted.',
  },
  in_order: {
    type: 'boolean',
    description:
      'Whether the points of a series are sent oldest first, one request after the other, for destinations that refuse a point that is older than the last one. After an outage what is fresh then comes last; otherwise it does not wait for what is old. `false` unless the vendor wants something else.',
  },
  max_points: { type: 'integer', minimum: 1, description: 'Points in one request at most; 10000 unless set.' },
  max_bytes: size('Size of a request at most, before it is compressed; 1MiB unless set.'),
  max_buckets: {
    type: 'integer',
    minimum: 2,
    description: 'Buckets of a histogram at most: neighbours become one. No limit unless set.',
  },
  max_attributes: {
    type: 'integer',
    minimum: 1,
    description: 'A point with more attributes, those of its resource included, is left out and counted.',
  },
  resource: {
    type: 'string',
    enum: ['entity', 'target'],
    description:
      'What a resource is: what a series is about (a GPU, a pod, a workload, a node), or the target that told it, where everything else stays with the points. `entity` unless the vendor wants something else.',
  },
  resource_attributes: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Changes which labels become attributes of the resource, and how these are called; an empty name leaves the label with the point.',
  },
  resource_defaults: {
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1 },
    description: 'Attributes that a resource gets where it has none of that name.',
  },
  attribute_keys: {
    type: 'object',
    properties: {
      case: { type: 'string', enum: ['keep', 'lower'], description: 'Whether they are written in lower case.' },
      characters,
      first_characters: firstCharacters,
      max_length: maxLength,
    },
    additionalProperties: false,
    description: 'Names of attributes that the destination takes.',
  },
  attribute_values: {
    type: 'object',
    properties: { max_length: maxLength },
    additionalProperties: false,
    description: 'Values of attributes that the destination takes.',
  },
  metric_names: {
    type: 'object',
    properties: {
      characters,
      first_characters: firstCharacters,
      max_length: maxLength,
    },
    additionalProperties: false,
    description: 'Names of metrics that the destination takes.',
  },
  units: {
    type: 'object',
    properties: { max_length: maxLength },
    additionalProperties: false,
    description: 'Units that the destination takes.',
  },
  descriptions: {
    type: 'object',
    properties: { max_length: maxLength },
    additionalProperties: false,
    description: 'Descriptions of metrics that the destination takes.',
  },
} as const

const schema = { type: 'object', properties: otlpSettings, additionalProperties: false } as const
export type OtlpSettings = FromSchema<typeof schema>
