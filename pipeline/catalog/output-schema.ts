/** What stands in an output catalog: the metrics that a vocabulary publishes, and how each is computed. */
import type { FromSchema } from 'json-schema-to-ts'

/** What metrics are sums, means and so on over. */
export const CONTRIBUTORS = [
  'gpu',
  'pair',
  'pod',
  'container',
  'node',
  'host',
  'workload',
  'project_quota',
  'queue_quota',
  'rest',
  'series',
] as const
export type ContributorKind = (typeof CONTRIBUTORS)[number]

/** One series of a metric is there for each of these. */
export const LEVELS = [
  'gpu',
  'pair',
  'pod',
  'workload',
  'project',
  'department',
  'user',
  'queue',
  'nodepool',
  'node',
  'cluster',
  'series',
] as const
export type Level = (typeof LEVELS)[number]

export const AGGREGATES = [
  'sum',
  'mean',
  'min',
  'max',
  'count',
  'any',
  'ratio',
  'info',
  'last_active',
  'idle_seconds',
  'seconds_in_phase',
] as const
export type Aggregate = (typeof AGGREGATES)[number]

/** What a pod must be to contribute. */
export const CONDITIONS = ['bound', 'unfinished', 'active', 'pending', 'running', 'gpu'] as const
export type Condition = (typeof CONDITIONS)[number]

const oneOrSeveral = {
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
  ],
} as const

/** One metric. */
export const outputMetricSchema = {
  type: 'object',
  properties: {
    metric: { type: 'string', minLength: 1, description: 'Its name.' },
    help: { type: 'string', minLength: 1, description: 'One sentence.' },
    type: { type: 'string', enum: ['gauge', 'counter', 'info'], default: 'gauge', description: 'What it is.' },
    unit: { type: 'string', default: '', description: 'Its unit: %, MiB, By, s, {core} and so on.' },
    of: { type: 'string', enum: CONTRIBUTORS, description: 'Over what it is aggregated.' },
    level: { type: 'string', enum: LEVELS, description: 'For what there is one series each.' },
    labels: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Names of its labels, each defined under `labels` of the catalog.',
    },
    aggregate: { type: 'string', enum: AGGREGATES, description: 'How.' },
    from: {
      ...oneOrSeveral,
      description:
        'What is aggregated: a fact, or of several the first that a contributor has; for pods, nodes, quotas and rests what is known of them (gpus, cpu_requests); for pods and nodes also a look-up that finds a number (node.label.price).',
    },
    plus: { type: 'string', minLength: 1, description: 'What is added to it, for each contributor.' },
    minus: { type: 'string', minLength: 1, description: 'What is taken from it, for each contributor.' },
    over: { ...oneOrSeveral, description: 'For `ratio`: what its sum is divided by.' },
    rate: { type: 'boolean', default: false, description: 'Whether the rate per second of a counter is meant.' },
    complement: { type: 'boolean', default: false, description: 'Whether 1 minus the result is meant.' },
    at_most: { type: 'number', description: 'What is above is this, for each contributor, in the unit of the metric.' },
    weight: {
      type: 'string',
      enum: ['device', 'share'],
      default: 'device',
      description:
        'For the mean over pairs: `device` counts each pair as much as its device is of a board, `share` as much as the pod has of that.',
    },
    where: {
      type: 'array',
      items: { type: 'string', enum: CONDITIONS },
      default: [],
      description:
        'What a pod must be: bound to a node, unfinished, active (Pending, Running or Unknown), pending, running, or one that asks for GPUs.',
    },
    match: {
      type: 'object',
      additionalProperties: oneOrSeveral,
      default: {},
      description: 'For facts of hosts and for series: labels and the values they must have.',
    },
    only: {
      type: 'object',
      additionalProperties: oneOrSeveral,
      default: {},
      description:
        'What it is made for: attributes, as labels have them, and the values that one must have: { workload_type: inference }.',
    },
    per: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'For facts of hosts: labels that tell the readings of one host apart, such as cpu.',
    },
    phase: {
      type: 'string',
      enum: ['Pending', 'Running'],
      description: 'For `seconds_in_phase`: Pending is until all pods are scheduled, Running while any runs.',
    },
    zero_for: {
      type: 'string',
      enum: ['gpu_nodes', 'workloads'],
      description:
        'Where nothing contributes, there is a 0 all the same: for every node that has GPUs, or every workload that has pods.',
    },
    decision: { type: 'string', minLength: 1, description: 'Why it is computed so, where its owner does not say.' },
    source: { type: 'string', minLength: 1, description: 'Where its definition is known from.' },
  },
  required: ['metric', 'help', 'of', 'level', 'aggregate'],
  additionalProperties: false,
} as const

/** A metric of the source that is handed on under a name that the vocabulary has. */
const passSchema = {
  type: 'object',
  properties: {
    metric: { type: 'string', minLength: 1, description: 'The name it leaves by; of a histogram that of the family.' },
    from: { type: 'string', minLength: 1, description: 'The name it comes by; the same if this is missing.' },
    match: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description: 'Labels that it must have, with their values; they are left out.',
    },
    drop: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Labels that are left out.',
    },
    labels: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Labels that it gets, each defined under `labels` of the catalog: what `join_workload` has found.',
    },
    help: { type: 'string', minLength: 1, description: 'One sentence; without it the help of the source stays.' },
  },
  required: ['metric'],
  additionalProperties: false,
} as const

export const outputSchema = {
  type: 'object',
  properties: {
    kind: { const: 'output', description: 'What this file is.' },
    about: { type: 'string', description: 'Whose vocabulary it is, in a sentence.' },
    labels: {
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1 },
      default: {},
      description:
        'By the name of a label what it is: node, pod, workload_id and so on, a look-up (namespace.label.team), or a label of a series (label.le).',
    },
    metrics: { type: 'array', items: outputMetricSchema, description: 'What is published.', default: [] },
    pass: {
      type: 'array',
      items: passSchema,
      default: [],
      description: 'Metrics of sources that are handed on as they are, without what was joined to them.',
    },
  },
  required: ['kind', 'about'],
  additionalProperties: false,
} as const

export type OutputCatalog = FromSchema<typeof outputSchema>
export type OutputMetric = FromSchema<typeof outputMetricSchema>
export type PassRule = OutputCatalog['pass'][number]
