/** Knows which parts of a config must never be shown, and masks them in lines and messages. */
import { closest } from './closest.ts'
import type { Finding } from './finding.ts'
import { isSecret, schemasBelow, withBranches, type Schema } from './schema-walk.ts'
import { maskLine, maskUrls, REDACTED, type MaskedLine, type Range } from './mask-line.ts'
import { guessSecrets } from './secret-guess.ts'
import type { Place, Source } from './source.ts'
import type { YamlNode } from './yaml-source.ts'

export type Secrets = {
  maskLine(source: Source, line: number): MaskedLine
  maskMessage(message: string): string
}

/** Shorter ones would be found everywhere; nobody protects anything with three letters. */
const MIN_SECRET_LENGTH = 4

/**
 * `trees` are all that was understood of the config, before and after expansion. Where the YAML itself has mistakes, what a line
 * means is not sure, so there the names of keys decide.
 */
export function findSecrets(trees: readonly YamlNode[], schema: Schema, findings: readonly Finding[]): Secrets {
  const doubtful = new Set(findings.filter(({ isAboutYaml }) => isAboutYaml).map(({ place }) => place.source))
  const ranges = new Map<Source, Range[]>()
  const texts = new Set<string>()
  const isSecretKey = secretKeys(schema)

  function collect(node: YamlNode, secrecy: Secrecy): void {
    if (node.kind === 'map') for (const [key, { value }] of node.entries) collect(value, secrecyBelow(secrecy, key))
    else if (node.kind === 'list')
      for (const [index, item] of node.items.entries()) collect(item, secrecyBelow(secrecy, index))
    else if (node.kind === 'scalar' && secrecy.isSecret) {
      remember(String(node.value))
      remember(node.asText?.() ?? '')
      const { source, start, end } = node.place
      if (!isReference(source.text.slice(start, end).replace(/^(['"])(.*)\1$/s, '$2'))) mark(node.place)
    }
  }

  function remember(text: string): void {
    if (text.length >= MIN_SECRET_LENGTH && !isReference(text)) texts.add(text)
  }

  function mark({ source, start, end }: Place): void {
    const known = ranges.get(source)
    if (known === undefined) ranges.set(source, [{ start, end }])
    else known.push({ start, end })
  }

  for (const tree of trees) collect(tree, { schemas: [schema], isSecret: false })

  return {
    maskLine(source, line) {
      const guessed = doubtful.has(source) ? guessSecrets(source, line, isSecretKey) : []
      return maskLine(source, line, [...(ranges.get(source) ?? []), ...guessed], texts)
    },
    maskMessage(message) {
      let masked = message
      for (const text of texts) masked = masked.replaceAll(text, REDACTED)
      return maskUrls(masked)
    },
  }
}

/** What is known about a part of a config on the way down to it. */
export type Secrecy = { readonly schemas: readonly Schema[]; readonly isSecret: boolean }

export function secrecyBelow({ schemas, isSecret: inherited }: Secrecy, key: string | number): Secrecy {
  const below = typeof key === 'number' ? schemasBelow(schemas, key) : schemasOfKey(schemas, key)
  const isGuessed = typeof key === 'string' && below.length === 0 && looksSecret(key)
  return { schemas: below, isSecret: inherited || isSecret(below) || isGuessed }
}

/** By name alone, where no schema knows the key. */
function looksSecret(key: string): boolean {
  if (/_(file|path)$/i.test(key)) return false
  return /pass(word|wd|phrase)|secret|token|api[-_]?key|authori[sz]ation|credential|cookie|private[-_]?key|^headers$/i.test(
    key,
  )
}

/** A misspelt key is as secret as the one it is meant to be. */
function schemasOfKey(schemas: readonly Schema[], key: string): readonly Schema[] {
  const own = schemasBelow(schemas, key)
  if (own.length > 0 || schemas.length === 0) return own
  const meant = closest(
    key,
    withBranches(schemas).flatMap(({ properties }) => Object.keys(properties ?? {})),
  )
  const below = meant === undefined ? [] : schemasBelow(schemas, meant)
  return hasSecret(below) ? below : []
}

function hasSecret(schemas: readonly Schema[]): boolean {
  return withBranches(schemas).some(
    ({ secret, properties = {}, additionalProperties, items }) =>
      secret === true ||
      hasSecret(Object.values(properties)) ||
      (typeof additionalProperties === 'object' && hasSecret([additionalProperties])) ||
      (items !== undefined && hasSecret([items])),
  )
}

/** `${env:KEY}` is not the secret, but a default in it might be. */
function isReference(text: string): boolean {
  return /^\$\{[^{}]*\}$/.test(text) && !text.includes(':-')
}

/** Names of keys that hold secrets, somewhere in the config, directly or below them. */
function secretKeys(schema: Schema): (key: string) => boolean {
  const names = new Set<string>()
  const visit = (schemas: readonly Schema[]): void => {
    for (const { properties = {}, patternProperties = {}, items } of withBranches(schemas)) {
      for (const [name, child] of Object.entries(properties)) {
        const values = typeof child.additionalProperties === 'object' ? [child.additionalProperties] : []
        if (isSecret([child, ...values])) names.add(name)
        visit([child])
      }
      visit([...Object.values(patternProperties), ...(items === undefined ? [] : [items])])
    }
  }
  visit([schema])
  return key => names.has(key) || looksSecret(key)
}
