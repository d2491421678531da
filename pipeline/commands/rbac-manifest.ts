/** From what receivers must be allowed to read to the manifest that allows it, and nothing else. */
import type { RbacRule } from '../component.ts'

/** A rule, and the receivers that need it. */
export type NeededRule = RbacRule & { readonly by: readonly string[] }

export type ManifestNames = {
  /** Of roles and bindings. */
  readonly name: string
  /** Of the service account. */
  readonly namespace: string
  readonly serviceAccount: string
}

/** Says which receivers need what. A rule that allows nothing more than another is part of that one. */
export function mergeRules(rulesByReceiver: ReadonlyMap<string, readonly RbacRule[]>): NeededRule[] {
  const merged: NeededRule[] = []
  for (const [id, rules] of rulesByReceiver) for (const rule of rules) add(merged, { ...rule, by: [id] })
  return merged
}

function add(merged: NeededRule[], rule: NeededRule): void {
  const wider = merged.findIndex(other => isPart(rule, other))
  if (wider >= 0) {
    merged[wider] = neededBy(merged[wider]!, rule)
    return
  }
  const parts = merged.filter(other => isPart(other, rule))
  const others = merged.filter(other => !parts.includes(other))
  merged.splice(0, merged.length, ...others, parts.reduce(neededBy, rule))
}

function isPart(rule: RbacRule, of: RbacRule): boolean {
  return (
    rule.group === of.group &&
    rule.resources.every(resource => of.resources.includes(resource)) &&
    rule.verbs.every(verb => of.verbs.includes(verb)) &&
    (of.namespaces === undefined || (rule.namespaces?.every(name => of.namespaces!.includes(name)) ?? false))
  )
}

function neededBy(rule: NeededRule, also: NeededRule): NeededRule {
  return { ...rule, by: [...new Set([...rule.by, ...also.by])] }
}

/** YAML documents. Names must be such as Kubernetes takes, so that nothing needs quotes. */
export function renderManifest(rules: readonly NeededRule[], names: ManifestNames): string {
  const everywhere = rules.filter(rule => rule.namespaces === undefined)
  const namespaces = [...new Set(rules.flatMap(rule => rule.namespaces ?? []))]
  return [
    `apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: ${names.serviceAccount}\n  namespace: ${names.namespace}\n`,
    ...(everywhere.length > 0 ? roleAndBinding('ClusterRole', undefined, everywhere, names) : []),
    ...namespaces.flatMap(namespace => {
      const itsRules = rules.filter(rule => rule.namespaces?.includes(namespace))
      return roleAndBinding('Role', namespace, itsRules, names)
    }),
  ].join('---\n')
}

function roleAndBinding(
  kind: 'ClusterRole' | 'Role',
  namespace: string | undefined,
  rules: readonly NeededRule[],
  { name, namespace: accountNamespace, serviceAccount }: ManifestNames,
): string[] {
  const metadata = `metadata:\n  name: ${name}\n${namespace === undefined ? '' : `  namespace: ${quoted(namespace)}\n`}`
  const head = (kind: string): string => `apiVersion: rbac.authorization.k8s.io/v1\nkind: ${kind}\n${metadata}`
  return [
    `${head(kind)}rules:\n${rules.map((rule, i) => renderRule(rule, rules[i - 1])).join('')}`,
    `${head(`${kind}Binding`)}roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${kind}
  name: ${name}
subjects:
  - kind: ServiceAccount
    name: ${serviceAccount}
    namespace: ${accountNamespace}
`,
  ]
}

/** What it is for is said once for rules that follow each other. */
function renderRule(rule: NeededRule, before: NeededRule | undefined): string {
  const about = aboutRule(rule)
  return `${before !== undefined && aboutRule(before) === about ? '' : about}  - apiGroups: [${quoted(rule.group)}]
    resources:
${rule.resources.map(resource => `      - ${resource}\n`).join('')}    verbs: [${rule.verbs.join(', ')}]
`
}

function aboutRule({ by, why }: NeededRule): string {
  return `  # ${by.join(', ')}: ${why}\n`
}

/** Groups and namespaces, in which Kubernetes has no quotes. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
