/** What stands in a catalog of workloads: which kinds are what, and where the marks of platforms stand. */
import type { FromSchema } from 'json-schema-to-ts'

const KIND = '^[A-Z][A-Za-z0-9]*(\\.[a-z0-9.-]*)?$'
const LOOK_UP = '^(pod|owner|namespace|node)\\.(name|(label|annotation)\\..+)$'

const kinds = { type: 'array', items: { type: 'string', pattern: KIND }, default: [] } as const
const lookUps = { type: 'array', items: { type: 'string', pattern: LOOK_UP }, default: [] } as const

export const workloadsSchema = {
  type: 'object',
  properties: {
    kind: { const: 'workloads', description: 'What this file is.' },
    about: { type: 'string', description: 'What it knows, in a sentence.' },
    max_depth: { type: 'integer', minimum: 1, maximum: 100, default: 16, description: 'Owners above a pod at most.' },
    wrappers: { ...kinds, description: 'Kinds that only wrap another: the workload is what they wrap.' },
    stop_at: { ...kinds, description: 'Kinds that are the workload although they have owners.' },
    types: {
      type: 'object',
      default: {},
      additionalProperties: kinds,
      description: 'By type of workload the kinds that are of it.',
    },
    look_up: {
      type: 'object',
      description: 'By label where its value is looked up, in order.',
      properties: {
        workload_id: lookUps,
        workload_name: lookUps,
        workload_kind: lookUps,
        workload_type: lookUps,
        project: lookUps,
        department: lookUps,
        user: lookUps,
        queue: lookUps,
        nodepool: lookUps,
      },
      default: {},
      additionalProperties: false,
    },
    guesses: {
      type: 'array',
      default: [],
      description: 'What is above an owner that cannot be read, in order.',
      items: {
        type: 'object',
        properties: {
          from: { ...kinds, description: 'The kinds that cannot be read.' },
          to: { type: 'string', pattern: KIND, description: 'The kind above.' },
          label: { type: 'string', minLength: 1, description: 'The label of the pod that holds the name.' },
          pattern: {
            type: 'string',
            minLength: 1,
            description: 'A regular expression whose first group is the name, in the name of what cannot be read.',
          },
        },
        required: ['from', 'to'],
        additionalProperties: false,
      },
    },
  },
  required: ['kind', 'about'],
  additionalProperties: false,
} as const

export type WorkloadsCatalog = FromSchema<typeof workloadsSchema>

/** What the schema cannot say. */
export function workloadsMistakes({
  guesses,
}: WorkloadsCatalog): { path: readonly (string | number)[]; message: string }[] {
  return guesses.flatMap(({ label, pattern }, i) => {
    const path = ['guesses', i]
    if ((label === undefined) === (pattern === undefined)) {
      return [{ path, message: 'a guess has either `label` or `pattern`' }]
    }
    const mistake = pattern === undefined ? undefined : patternMistake(pattern)
    return mistake === undefined ? [] : [{ path: [...path, 'pattern'], message: mistake }]
  })
}

function patternMistake(pattern: string): string | undefined {
  try {
    // The empty alternative always matches, and tells how many groups there are.
    const groups = new RegExp(`${pattern}|`).exec('')!.length - 1
    return groups === 0 ? 'the pattern needs a group that is the name: (.+)' : undefined
  } catch (error) {
    return `no regular expression: ${(error as Error).message}`
  }
}
