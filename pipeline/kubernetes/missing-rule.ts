/** What to tell whoever may not read something: the rule to add. */
import { displayName, type ResourceName } from './resource-path.ts'

export function missingRule(name: ResourceName, refusedVerb: 'get' | 'list' | 'watch'): string {
  const { group, resource, namespace } = name
  const verbs = refusedVerb === 'get' ? ['get'] : ['list', 'watch']
  const rule = `{ apiGroups: ["${group}"], resources: ["${resource}"], verbs: [${verbs.map(verb => `"${verb}"`).join(', ')}] }`
  const [where, role] =
    namespace === undefined ? ['', 'ClusterRole'] : [` in namespace "${namespace}"`, `Role in namespace "${namespace}"`]
  return `not allowed to ${refusedVerb} ${displayName(name)}${where}: its ${role} needs the rule ${rule}`
}
