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

/**
 * From a kind to the type of workload it is. Where nobody tells the group, as kube-state-metrics does not, a kind of Kubernetes itself is
 * meant (`Job` is that of `batch`), else all groups that have such a kind must agree.
 */
export function typeFinder(
  kindsByType: Readonly<Record<string, readonly string[]>>,
): (kind: string, group: string | undefined) => string | undefined {
  const rows = Object.entries(kindsByType).flatMap(([type, kinds]) =>
    kinds.map(text => ({ type, test: kindTest([text]), isBuiltIn: isBuiltIn(parseKind(text)?.group) })),
  )
  return (kind, group) => {
    const found = rows.filter(({ test }) => test({ kind, group }))
    const builtIn = group === undefined ? found.filter(row => row.isBuiltIn) : []
    const types = new Set((builtIn.length > 0 ? builtIn : found).map(({ type }) => type))
    return types.size === 1 ? [...types][0] : undefined
  }
}

/** Groups of Kubernetes itself that have workloads are words, all others are domains. */
function isBuiltIn(group: string | undefined): boolean {
  return group !== undefined && !group.includes('.')
}
