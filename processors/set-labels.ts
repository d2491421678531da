/**
 * Gives series labels: constant ones, and such as are made of others; hides values, and takes labels away.
 *
 * Place it after `join_workload` where it reads what that adds, and before `limit_cardinality`.
 */
import { createHash } from 'node:crypto'
import type { ConfigSchema, Problem } from '../pipeline/component.ts'
import type { SeriesMap } from '../pipeline/model/label-processor.ts'
import { getLabel, labelPairs, labelsFrom, type Labels } from '../pipeline/model/labels.ts'
import { matchWhole } from '../pipeline/relabel/regex.ts'
import { checkSelectors, compileSelectors, selectors } from '../pipeline/relabel/select-series.ts'
import { defineSeriesProcessor } from '../pipeline/series-processor.ts'

const config = {
  type: 'object',
  properties: {
    match: selectors('Selectors of the series that are meant, as in PromQL; all of them where there is none.'),
    from: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
        ],
      },
      default: {},
      description:
        'Labels to write, each with the label it gets its value from, or a list of labels whose values are joined. All are read as they came in. Where one of them is missing, nothing is written.',
    },
    separator: { type: 'string', default: '/', description: 'Stands between values that are joined.' },
    set: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description:
        'Labels to write, each with its value; an empty one writes nothing. `${env:NAME}` is the environment.',
    },
    overwrite: {
      type: 'boolean',
      default: true,
      description:
        'Whether `from` and `set` replace a label that is there already. If not, they fill in what is missing.',
    },
    hash: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description:
        'Labels whose values are replaced by the first 16 hexadecimal digits of their SHA-256: equal ones stay equal.',
    },
    hash_salt: {
      type: 'string',
      secret: true,
      default: '',
      description: 'Stands before each value that is hashed, so that nobody finds it out by trying.',
    },
    delete: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Labels to take away, at the end: RE2 expressions that must match the whole name.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

type Config = {
  readonly match: readonly string[]
  readonly from: Readonly<Record<string, string | readonly string[]>>
  readonly separator: string
  readonly set: Readonly<Record<string, string>>
  readonly overwrite: boolean
  readonly hash: readonly string[]
  readonly hash_salt: string
  readonly delete: readonly string[]
}

export const setLabels = defineSeriesProcessor({
  type: 'set_labels',
  summary: 'Sets labels to constants or to values of others, hashes their values, and deletes them.',
  config,
  example: {
    set: { cluster: 'eu-1' },
    from: { tenant: 'namespace', workload: ['namespace', 'pod'] },
    hash: ['user'],
    delete: ['pci_bus_id', 'tmp_.*'],
  },
  check: given => checkLabels(given as Config),

  create(given): SeriesMap {
    const { match } = given
    const change = labelChange(given as Config)
    const selector = compileSelectors(match)
    if (match.length === 0) return { by: 'labels', map: change }
    return {
      by: 'series',
      map: series => [selector.selects(series) ? { metric: series.metric, labels: change(series.labels) } : series],
    }
  },
})

/** The bound of a bucket is no label to be changed: it is part of what the number means. */
const BOUND = 'le'

function labelChange({ from, separator, set, overwrite, hash, hash_salt, delete: unwanted }: Config) {
  const sources = Object.entries(from).map(([target, source]) => [target, [source].flat()] as const)
  const patterns = unwanted.map(matchWhole)
  const isUnwanted = (name: string): boolean => name !== BOUND && patterns.some(matches => matches(name))

  return (labels: Labels): Labels => {
    const changed = new Map(labelPairs(labels))
    const write = (name: string, value: string): void => {
      if (value !== '' && (overwrite || !changed.has(name))) changed.set(name, value)
    }
    for (const [target, names] of sources) {
      const values = names.map(name => getLabel(labels, name))
      if (values.every(value => value !== undefined)) write(target, values.join(separator))
    }
    for (const [name, value] of Object.entries(set)) write(name, value)
    for (const name of hash) {
      const value = changed.get(name)
      if (value !== undefined) changed.set(name, digest(hash_salt + value))
    }
    if (patterns.length > 0) for (const name of changed.keys()) if (isUnwanted(name)) changed.delete(name)
    return labelsFrom(changed)
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function checkLabels(given: Config): Problem[] {
  const written = [
    ...Object.keys(given.from).map(name => ({ name, path: ['from', name] })),
    ...Object.keys(given.set).map(name => ({ name, path: ['set', name] })),
  ]
  const named = [
    ...written,
    ...given.hash.map((name, i) => ({ name, path: ['hash', i] })),
    ...given.delete.map((name, i) => ({ name, path: ['delete', i] })),
  ]
  if (named.length === 0) {
    return [{ path: [], message: 'it changes nothing: one of `set`, `from`, `hash` and `delete` is needed' }]
  }
  const problems: Problem[] = [...checkSelectors(given.match, ['match'])]
  for (const { name, path } of named) {
    const reason = UNTOUCHABLE.get(name)
    if (reason !== undefined) problems.push({ path, message: `\`${name}\` ${reason}` })
  }
  for (const name of Object.keys(given.set)) {
    if (Object.hasOwn(given.from, name)) {
      problems.push({ path: ['set', name], message: `\`from\` writes \`${name}\`, too: which one is meant?` })
    }
  }
  given.delete.forEach((regex, i) => {
    const found = deletedAgain(regex, [...written.map(({ name }) => name), ...given.hash])
    if (found !== undefined) problems.push({ path: ['delete', i], message: found })
  })
  return problems
}

const UNTOUCHABLE: ReadonlyMap<string, string> = new Map([
  ['__name__', 'is the name of the series: `relabel` and `rename` change that'],
  [BOUND, 'is the bound of a bucket and stays as it is: `convert_units` changes its unit'],
  ['', 'is no name of a label'],
])

function deletedAgain(regex: string, names: readonly string[]): string | undefined {
  try {
    const matches = matchWhole(regex)
    const name = names.find(one => matches(one))
    return name === undefined
      ? undefined
      : `"${regex}" deletes \`${name}\`, which is written before: which one is meant?`
  } catch (error) {
    return `bad regular expression: ${(error as Error).message}`
  }
}
