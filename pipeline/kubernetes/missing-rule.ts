/** What to tell whoever may not read something: the rule to add. */
import { displayName, type ResourceName } from './resource-path.ts'

/** `refusal` is what the API said: it knows who we are. */
export function missingRule(name: ResourceName, refusedVerb: 'get' | 'list' | 'watch', refusal: string): string {
  const { group, resource, namespace } = name
  const verbs = refusedVerb === 'get' ? '"get"' : '"list", "watch"'
  const rule = `{ apiGroups: ["${group}"], resources: ["${resource}"], verbs: [${verbs}] }`
  const where = namespace === undefined ? '' : ` in namespace "${namespace}"`
  const role = namespace === undefined ? 'ClusterRole' : 'Role'
  const user = /User ("[^"]*")/.exec(refusal)?.[1] ?? 'the user'
  return `${user} may not ${refusedVerb} ${displayName(name)}${where}: its ${role} needs the rule ${rule}`
}
