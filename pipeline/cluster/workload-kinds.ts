/** Kinds as people write them: `Job.batch`, `Pod.` for the core group, and `Job` for a kind of whatever group. */
import type { KindTest } from './owner-chain.ts'

export type KindName = { readonly kind: string; readonly group: string | undefined }

/** Undefined if the text is no kind. */
export function parseKind(text: string): KindName | undefined {
  const found = /^([A-Z][A-Za-z0-9]*)(?:\.([a-z0-9.-]*))?$/.exec(text)
  return found === null ? undefined : { kind: found[1]!, group: found[2] }
}

export function kindText({ kind, group }: KindName): string {
  return group === undefined || group === '' ? kind : `${kind}.${group}`
}

/** Where one of the two does not know its group, the name decides. */
export function kindTest(texts: readonly string[]): KindTest {
  const groupsByKind = new Map<string, (string | undefined)[]>()
  for (const { kind, group } of texts.map(parseKind).filter(one => one !== undefined)) {
    groupsByKind.set(kind, [...(groupsByKind.get(kind) ?? []), group])
  }
  return ({ kind, group }) =>
    groupsByKind.get(kind)?.some(known => known === undefined || group === undefined || known === group) ?? false
}

/** From a kind to the type of workload it is. A kind without group has a type if all groups that have such a kind agree. */
export function typeFinder(
  kindsByType: Readonly<Record<string, readonly string[]>>,
): (kind: string, group: string | undefined) => string | undefined {
  const rows = Object.entries(kindsByType).flatMap(([type, kinds]) =>
    kinds.map(text => ({ type, test: kindTest([text]) })),
  )
  return (kind, group) => {
    const types = new Set(rows.filter(({ test }) => test({ kind, group })).map(({ type }) => type))
    return types.size === 1 ? [...types][0] : undefined
  }
}
