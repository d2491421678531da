/** Turns a part of the tree into a plain value with defaults, and says what its schema does not like about it. */
import type { Finding } from './finding.ts'
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
  return {
    value,
    isGood: isWhole && findings.length === 0,
    isReadable: isWhole && errors.every(({ keyword }) => keyword === 'additionalProperties'),
    findings,
    brokenIn(list) {
      const paths: Path[] = [...holes, ...errors.map(({ instancePath }) => instancePath.split('/').slice(1))]
      if (!paths.every(([key, item]) => key === list && item !== undefined)) return undefined
      return new Set(paths.map(([, item]) => Number(item)))
    },
  }
}
