/** What stands in a preset of `configs/vendors`: where a vendor takes OTLP metrics, how it knows who sends, and what it wants. */
import type { FromSchema } from 'json-schema-to-ts'
import { otlpSettings } from './otlp-settings.ts'

const oneOf = (values: readonly string[]) =>
  ({ type: 'array', items: { type: 'string', enum: values }, minItems: 1 }) as const

export const vendorSchema = {
  type: 'object',
  properties: {
    about: { type: 'string', minLength: 1, description: 'Which service it is.' },
    url: {
      type: 'string',
      minLength: 1,
      description: 'Where metrics are sent; `{name}` stands for a parameter. Missing where users have to say it.',
    },
    instead: { type: 'string', minLength: 1, description: 'Of services that take no OTLP: what to use.' },
    parameters: {
      type: 'object',
      default: {},
      additionalProperties: {
        type: 'object',
        properties: {
          about: { type: 'string', minLength: 1, description: 'What it is.' },
          default: { type: 'string', minLength: 1, description: 'Its value where users say none.' },
          values: {
            type: 'object',
            additionalProperties: { type: 'string', minLength: 1 },
            description: 'All that it may be, and what each stands for.',
          },
        },
        required: ['about'],
        additionalProperties: false,
      },
      description: 'What users say in `vendor_parameters`; those without a default are required.',
    },
    api_key: {
      type: 'object',
      properties: {
        header: { type: 'string', minLength: 1, description: 'Header that holds the key.' },
        prefix: { type: 'string', default: '', description: 'What stands before the key.' },
        username: {
          type: 'string',
          minLength: 1,
          description: 'For basic authentication, where the key is the password: the parameter that is the user.',
        },
        optional: { type: 'boolean', default: false, description: 'Whether it also works without a key.' },
      },
      required: ['header'],
      additionalProperties: false,
      description: 'How the `api_key` of a config is sent. Missing where other ways of authentication have to be used.',
    },
    headers: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string', minLength: 1 },
      description: 'Further headers; `{name}` stands for a parameter, and a header without a value is left out.',
    },
    accepts: {
      type: 'object',
      properties: {
        encoding: { ...oneOf(['proto', 'json']), description: 'Encodings that it takes.' },
        compression: { ...oneOf(['gzip', 'zstd', 'none']), description: 'Compressions that it takes.' },
        temporality: { ...oneOf(['cumulative', 'delta']), description: 'Temporalities that it takes.' },
      },
      default: {},
      additionalProperties: false,
      description: 'What it takes at all: a config that says something else is a mistake.',
    },
    settings: {
      type: 'object',
      properties: otlpSettings,
      default: {},
      additionalProperties: false,
      description: 'What the exporter does unless the config says something else.',
    },
    uncompressed: {
      type: 'object',
      properties: otlpSettings,
      default: {},
      additionalProperties: false,
      description: 'What is different where requests are not compressed.',
    },
    notes: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'What users should know.',
    },
    source: { type: 'string', minLength: 1, description: 'Where all this is known from.' },
  },
  required: ['about', 'source'],
  additionalProperties: false,
} as const

export type Vendor = FromSchema<typeof vendorSchema>
