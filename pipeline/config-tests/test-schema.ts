/** The schema of a test file: what is checked, what editors complete, and the type that the code reads. */
import type { FromSchema } from 'json-schema-to-ts'

const config = {
  type: ['string', 'array'],
  minLength: 1,
  items: { type: 'string', minLength: 1 },
  minItems: 1,
  description: 'The config under test: one path or a list, as --config; relative to this file.',
} as const

const set = {
  type: 'object',
  additionalProperties: true,
  description: 'Values that are set after all files, as --set: { processors.roll_up.interval: 30s }.',
} as const

const processors = {
  type: 'array',
  minItems: 1,
  items: { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: true },
  description: 'Instead of a config: the processors under test, each with its config. They get what `input` says.',
} as const

const file = { type: 'string', minLength: 1, description: 'A path, relative to this file.' } as const

const answer = {
  type: 'object',
  properties: {
    file: { ...file, description: 'The body: the bytes of this file, unchanged. Relative to this file.' },
    text: { type: 'string', description: 'The body.' },
    content_type: {
      type: 'string',
      minLength: 1,
      description: 'The Content-Type header; that of Prometheus text 0.0.4 unless set.',
    },
    status: { type: 'integer', minimum: 100, maximum: 599, description: 'The status; 200 unless set.' },
    error: {
      type: 'string',
      enum: ['refused', 'timeout'],
      description: 'No answer at all: the connection is refused, or nothing ever comes.',
    },
  },
  anyOf: [
    { properties: { file: {} }, required: ['file'] },
    { properties: { text: {} }, required: ['text'] },
    { properties: { status: {} }, required: ['status'] },
    { properties: { error: {} }, required: ['error'] },
  ],
  additionalProperties: false,
} as const

const content = (text: string) =>
  ({
    type: 'object',
    properties: { file, text: { type: 'string', description: text } },
    oneOf: [
      { properties: { file: {} }, required: ['file'] },
      { properties: { text: {} }, required: ['text'] },
    ],
    additionalProperties: false,
  }) as const

const expectation = {
  type: 'object',
  properties: {
    metrics: {
      type: 'string',
      description: 'Names of the metrics to compare, a regular expression that matches the whole name; all unless set.',
    },
    file: { ...file, description: 'All series of these metrics, as Prometheus text. Relative to this file.' },
    text: {
      type: 'string',
      description: 'All series of these metrics, as Prometheus text; "" means that there are none.',
    },
    tolerance: {
      type: 'number',
      minimum: 0,
      description: 'How far values may be from those expected, relative to the larger of the two; 0 unless set.',
    },
    absent: { type: 'string', description: 'A selector: no such series.' },
    present: { type: 'string', description: 'A selector: at least one such series.' },
    value: { type: ['number', 'string'], description: 'With `present`: the value that all these series have.' },
    log: { type: 'string', description: 'A regular expression: a line of the log since the step before matches it.' },
    exporter: { type: 'string', description: 'Compare what this exporter has, not all exporters together.' },
  },
  oneOf: [
    { properties: { file: {} }, required: ['file'] },
    { properties: { text: {} }, required: ['text'] },
    { properties: { absent: {} }, required: ['absent'] },
    { properties: { present: {} }, required: ['present'] },
    { properties: { log: {} }, required: ['log'] },
  ],
  additionalProperties: false,
} as const

const step = {
  type: 'object',
  properties: {
    at: { type: 'string', format: 'duration', description: 'When this happens, from the start on.' },
    answers: {
      type: 'object',
      additionalProperties: answer,
      description: 'What each URL answers from now on; those that are not named go on as before.',
    },
    objects: {
      ...content('YAML documents, or a v1 List.'),
      description: 'All objects of the Kubernetes API from now on: a v1 List, or YAML documents.',
    },
    input: {
      ...content('Prometheus text.'),
      description: 'With `processors` only: what the first of them gets.',
    },
    expect: { type: 'array', items: expectation, description: 'What the exporters must have now.' },
  },
  required: ['at'],
  additionalProperties: false,
} as const

const test = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, description: 'What is tested, in a sentence.' },
    start: {
      type: 'string',
      description: 'The wall clock at 0s, as 2023-11-14T22:13:30Z; 2024-01-01T00:00:00Z unless set.',
    },
    config,
    set,
    processors,
    steps: { type: 'array', minItems: 1, items: step, description: 'What happens, in order of time.' },
  },
  required: ['name', 'steps'],
  additionalProperties: false,
} as const

export const testSchema = {
  type: 'object',
  properties: {
    config,
    set,
    processors,
    tests: { type: 'array', minItems: 1, items: test, description: 'Each test has its own world and its own clock.' },
  },
  required: ['tests'],
  additionalProperties: false,
} as const

export type TestFile = FromSchema<typeof testSchema>
