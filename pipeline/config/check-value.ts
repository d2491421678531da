/** Turns a part of the tree into a plain value with defaults, and says what its schema does not like about it. */
import type { Finding } from './finding.ts'
import { setOwn } from './plain-object.ts'
import { plainValue, type Path } from './plain-value.ts'
import { schemaFindings } from './schema-findings.ts'
import type { Schema } from './schema-walk.ts'
import { validatorFor } from './validator.ts'
import type { YamlEntry } from './yaml-source.ts'

export type CheckedValue = {
  readonly value: unknown
  /** Nothing is wrong with it, and nothing in it is unknown. */
  readonly isGood: boolean
  /** It is as its schema wants it, keys aside that the schema does not know. */
  readonly isReadable: boolean
  readonly findings: readonly Finding[]
  /** The entries of a list that are not as the schema wants them, where everything else is; undefined where it is not. */
  brokenIn(list: string): ReadonlySet<number> | undefined
  /** What is as the schema wants it: keys that are not have their defaults. Undefined where one of them has none. */
  soundPart(list: string | undefined): SoundPart | undefined
}

export type SoundPart = {
  readonly value: Readonly<Record<string, unknown>>
  /** Keys that are not as the schema wants them. */
  readonly broken: ReadonlySet<string>
  /** Which entries of the list are in it. */
  readonly items: readonly number[]
}

/** `name` is what to call the whole. */
export function checkValue(entry: YamlEntry, name: string, schema: Schema): CheckedValue {
  const holes: Path[] = []
  const nothings: Path[] = []
  const { value: node } = entry
  const isNothing = node.kind === 'scalar' && node.value === null
  const onHole = (path: Path) => void holes.push(path)
  const onNothing = (path: Path) => void nothings.push(path)
  const value = isNothing ? {} : plainValue(node, [schema], { onHole, onNothing })
  const errors = validatorFor(schema)(value)
  const findings = schemaFindings(errors, { entry, name, schema, holes, nothings })
  const isWhole = holes.length === 0
  const wrong = errors.filter(({ keyword }) => keyword !== 'additionalProperties')
  const wrongPaths: Path[] = [...holes, ...wrong.map(({ instancePath }) => instancePath.split('/').slice(1))]
  return {
    value,
    isGood: isWhole && findings.length === 0,
    isReadable: wrongPaths.length === 0,
    findings,
    brokenIn(list) {
      const paths: Path[] = [...holes, ...errors.map(({ instancePath }) => instancePath.split('/').slice(1))]
      if (!paths.every(([key, item]) => key === list && item !== undefined)) return undefined
      return new Set(paths.map(([, item]) => Number(item)))
    },
    soundPart: list => soundPart(value, schema, wrongPaths, list),
  }
}

function soundPart(
  value: unknown,
  schema: Schema,
  wrongPaths: readonly Path[],
  list: string | undefined,
): SoundPart | undefined {
  if (typeof value !== 'object' || value === null || wrongPaths.some(path => path.length === 0)) return undefined
  const isOfItem = ([key, item]: Path): boolean => key === list && item !== undefined
  const broken = new Set(wrongPaths.filter(path => !isOfItem(path)).map(([key]) => String(key)))
  const sound: Record<string, unknown> = {}
  for (const [key, one] of Object.entries(value)) if (!broken.has(key)) setOwn(sound, key, one)
  const entries = list === undefined ? undefined : sound[list]
  const brokenItems = new Set(wrongPaths.filter(isOfItem).map(([, item]) => Number(item)))
  const items = Array.isArray(entries) ? [...entries.keys()].filter(item => !brokenItems.has(item)) : []
  if (Array.isArray(entries)) sound[list!] = items.map(item => entries[item] as unknown)
  const isSound = validatorFor(schema)(sound).every(({ keyword }) => keyword === 'additionalProperties')
  return isSound ? { value: sound, broken, items } : undefined
}
