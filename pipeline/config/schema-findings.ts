/** Says at the right place what a schema does not like about a value. */
import type { ErrorObject } from 'ajv'
import { closest } from './closest.ts'
import { formatPath, placeOfKey, placeOfValue, typedPath } from './entry-path.ts'
import type { Finding } from './finding.ts'
import type { Path } from './plain-value.ts'
import { chooseBranches } from './schema-branches.ts'
import { wordsFor } from './schema-messages.ts'
import { isSecret, schemasBelow, type Schema } from './schema-walk.ts'
import type { YamlEntry } from './yaml-source.ts'

export type Checked = {
  /** What was checked, and where it stands. */
  readonly entry: YamlEntry
  /** What to call the whole. */
  readonly name: string
  readonly schema: Schema
  /** What could not be worked out: nothing is said about it. */
  readonly holes: readonly Path[]
  /** Keys that stand there without a value. */
  readonly nothings: readonly Path[]
}

export function schemaFindings(errors: readonly ErrorObject[], checked: Checked): Finding[] {
  const settled = chooseBranches(errors)
  // What has the wrong type fails other rules, too.
  const wrongType = new Set(settled.filter(({ keyword }) => keyword === 'type').map(error => error.instancePath))
  return (
    settled
      .filter(error => error.keyword === 'type' || !wrongType.has(error.instancePath))
      // Why a key is none is told by the rule for keys; the rest would be taken for the value.
      .filter(error => error.propertyName === undefined || error.keyword === 'propertyNames')
      .map(error => ({ error, path: typedPath(checked.entry, partsOf(error.instancePath)) }))
      .filter(({ path }) => !checked.holes.some(hole => isWithin(path, hole)))
      .map(({ error, path }) => findingFrom(error, path, checked))
  )
}

function findingFrom(error: ErrorObject, path: Path, checked: Checked): Finding {
  const { entry, name, schema } = checked
  const subject = path.length === 0 ? name : formatPath(path)
  if (error.keyword === 'additionalProperties') return unknownKey(error, path, subject, entry)
  if (error.keyword === 'required') return missingKey(error, path, subject, checked)
  const isHidden = isSecret(path.reduce<readonly Schema[]>(schemasBelow, [schema]))
  const { message, isAboutKey, below = [], suggestion } = wordsFor(error, subject, isHidden)
  const place = isAboutKey ? placeOfKey(entry, [...path, ...below]) : placeOfValue(entry, [...path, ...below])
  return { place, message, suggestion }
}

function unknownKey(error: ErrorObject, path: Path, subject: string, entry: YamlEntry): Finding {
  const key = String((error.params as { additionalProperty: string }).additionalProperty)
  const { properties = {}, unsupported = {} } = (error.parentSchema ?? {}) as Schema
  if (Object.hasOwn(unsupported, key)) {
    const message = `\`${key}\` in \`${subject}\` is not supported: ${unsupported[key]}`
    return { place: placeOfKey(entry, [...path, key]), message }
  }
  const known = Object.keys(properties)
  const suggestion = closest(key, known)
  const isShort = known.length > 0 && known.length <= 8
  const list = suggestion === undefined && isShort ? `; it takes ${known.join(', ')}` : ''
  const message = `unknown key \`${key}\` in \`${subject}\`${list}`
  return { place: placeOfKey(entry, [...path, key]), message, suggestion }
}

function missingKey(error: ErrorObject, path: Path, subject: string, { entry, nothings }: Checked): Finding {
  const key = String((error.params as { missingProperty: string }).missingProperty)
  const whole = [...path, key]
  const isThere = nothings.some(nothing => nothing.length === whole.length && isWithin(nothing, whole))
  if (isThere) return { place: placeOfKey(entry, whole), message: `\`${key}\` has no value` }
  return { place: placeOfKey(entry, path), message: `\`${key}\` is missing in \`${subject}\`` }
}

/** The parts of a JSON pointer. */
function partsOf(pointer: string): string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((key, index) => path[index] === key)
}
