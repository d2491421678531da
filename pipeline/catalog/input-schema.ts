/** What stands in an input catalog: how what a source emits, in every generation of it, becomes facts. */
import type { FromSchema } from 'json-schema-to-ts'
import { definitionProperties } from './fact-schema.ts'

const names = { type: 'array', items: { type: 'string', minLength: 1 }, default: [] } as const

const labels = {
  type: 'object',
  default: {},
  description: 'Labels that have one spelling on facts, whatever the source calls them.',
  additionalProperties: {
    type: 'object',
    properties: {
      from: { ...names, description: 'Other spellings. The first that a series has counts, before the name itself.' },
      of_target: {
        type: 'boolean',
        default: false,
        description:
          'Whether a spelling that any series of the target has shows that later ones speak of the target itself (exported_pod beside pod): those are then dropped.',
      },
      strip_until: {
        type: 'string',
        minLength: 1,
        description: 'Drops what is before the last such text, and the text.',
      },
    },
    additionalProperties: false,
  },
} as const

const devices = {
  type: 'object',
  description: 'How a row says of which GPU it speaks, and who holds it. By the names that labels have on facts.',
  properties: {
    id: { ...names, description: 'Labels that name a board; the first that a row has counts.' },
    host: {
      type: 'string',
      description: 'Label of the host. With the index it is the name of a board that has no other.',
    },
    index: { type: 'string', description: 'Label of the number of the board in its host.' },
    model: { type: 'string', description: 'Label of the model.' },
    part: { type: 'string', description: 'Label of the instance, where a board is cut into such.' },
    profile: { type: 'string', description: 'Label of the profile of the instance.' },
    whole: { ...names, description: 'Values of `part` that mean the whole board, as long as it has no other.' },
    pod: { type: 'string', description: 'Label of the pod that holds the device.' },
    namespace: { type: 'string', description: 'Label of its namespace.' },
    container: { type: 'string', description: 'Label of its container.' },
    pod_uid: { type: 'string', description: 'Label of its uid.' },
    job: { type: 'string', description: 'Label of a job that holds the device.' },
    replica: { type: 'string', description: 'Label of the replica that the holder has of a shared device.' },
    holders: { ...names, description: 'Further labels that tell holders of one device apart.' },
    nobody: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'array', items: { type: 'string' } },
      description: 'Values by label of holders that are none, because they are the exporter itself.',
    },
    not_devices: { ...names, description: 'Labels of rows that are not of a GPU but of something in it or beside it.' },
  },
  required: ['id'],
  additionalProperties: false,
} as const

const origin = {
  type: 'object',
  properties: {
    in: { type: 'string', description: 'The unit of the source, where it is not that of the fact.' },
    in_when: {
      type: 'array',
      default: [],
      description: 'Where one name has different units: what tells them apart. The first that holds counts, else `in`.',
      items: {
        type: 'object',
        properties: {
          in: { type: 'string', description: 'The unit.' },
          help: { ...names, description: 'One of these is in the help text, in capitals or not.' },
          with: { ...names, description: 'The target has one of these metrics.' },
        },
        required: ['in'],
        additionalProperties: false,
      },
    },
    add: {
      type: 'object',
      default: {},
      additionalProperties: { type: 'string' },
      description: 'Labels that the fact has and this name implies.',
    },
    unverified: { type: 'boolean', default: false, description: 'No source confirms this name.' },
  },
  additionalProperties: false,
} as const

const fact = {
  type: 'object',
  properties: {
    fact: { type: 'string', minLength: 1, description: 'Its name; `{0..17}` stands for as many.' },
    ...definitionProperties,
    from: {
      type: 'object',
      minProperties: 1,
      additionalProperties: origin,
      description: 'The names that the source has or had for it.',
    },
    keep: {
      type: 'object',
      default: {},
      description: 'Which rows are the fact, by label; others are aggregates and dropped. An absent label is "".',
      additionalProperties: {
        type: 'object',
        properties: {
          in: { type: 'array', items: { type: 'string' }, description: 'Values to keep.' },
          not: { type: 'array', items: { type: 'string' }, description: 'Values to drop.' },
        },
        additionalProperties: false,
      },
    },
    absent: { ...names, description: 'Label values that mean that there is none.' },
    drop: { ...names, description: 'Labels that the fact does not have.' },
    snake_case: { ...names, description: 'Beginnings of label names that are written in snake_case.' },
    object: { type: 'string', description: 'Of which kind of object in `objects` it tells something.' },
    nonzero: { type: 'boolean', default: false, description: 'Tells something only where its value is not 0.' },
    source: { type: 'string', minLength: 1, description: 'Where this is known from.' },
  },
  required: ['fact', 'from', 'source'],
  additionalProperties: false,
} as const

export const inputSchema = {
  type: 'object',
  properties: {
    kind: { const: 'input', description: 'What this file is.' },
    about: { type: 'string', description: 'Which source this is, in a sentence.' },
    prefixes: {
      type: 'array',
      items: { type: 'string' },
      default: [''],
      description: 'What may stand in front of every name.',
    },
    requires: { ...names, description: 'Labels without which a series of such a name is of another source.' },
    labels,
    drop_labels: { ...names, description: 'Labels that change without meaning anything.' },
    devices,
    objects: {
      type: 'object',
      default: {},
      description: 'Kubernetes objects that facts tell about, and the labels that name them.',
      additionalProperties: {
        type: 'object',
        properties: {
          kind: { type: 'string', minLength: 1, description: 'As Kubernetes calls it.' },
          namespace: { type: 'string', description: 'Label of the namespace, for objects that have one.' },
          name: { type: 'string', description: 'Label of the name.' },
          uid: { type: 'string', description: 'Label of the uid.' },
        },
        required: ['kind', 'name'],
        additionalProperties: false,
      },
    },
    facts: { type: 'array', items: fact, description: 'One row for each fact.' },
  },
  required: ['kind', 'about', 'facts'],
  additionalProperties: false,
} as const

export type InputFile = FromSchema<typeof inputSchema>
export type FactRow = InputFile['facts'][number]
export type DeviceLabels = NonNullable<InputFile['devices']>
export type LabelRules = InputFile['labels']
export type ObjectLabels = InputFile['objects'][string]
