/** Who asks, and who may do what: rules as in a ClusterRole. */
import { forbidden, unauthorized, type StatusError } from './status.ts'

export type Access = {
  readonly verb: 'get' | 'list' | 'watch'
  readonly group: string
  readonly plural: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

export type PolicyRule = {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

/** A bearer token, whose it is and what they may read: everything if there are no rules. */
export type AccessToken = {
  readonly token: string
  readonly user: string
  readonly rules?: readonly PolicyRule[]
}

export type Client = Omit<AccessToken, 'token'>

/** Who sends this header. Throws the Status for those who are nobody. */
export function clientOf(authorization: string | undefined, tokens: readonly AccessToken[]): Client {
  const client = tokens.find(({ token }) => authorization === `Bearer ${token}`)
  if (client === undefined) throw unauthorized()
  return client
}

/** Whether one of the rules speaks of this; `*` stands for everything. */
export function isCovered(access: Access, rules: readonly PolicyRule[]): boolean {
  const resource = access.subresource === undefined ? access.plural : `${access.plural}/${access.subresource}`
  return rules.some(
    rule =>
      includes(rule.apiGroups, access.group) && includes(rule.resources, resource) && includes(rule.verbs, access.verb),
  )
}

export function denied(user: string, access: Access): StatusError {
  const { verb, group, plural, subresource, name } = access
  // To who asks whether one may read a namespace, its name is also where it is.
  const namespace = access.namespace ?? (plural === 'namespaces' && group === '' ? name : undefined)
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const what = `User "${user}" cannot ${verb} resource "${resource}" in API group "${group}" ${where}`
  return forbidden(access, name, what)
}

function includes(values: readonly string[], value: string): boolean {
  return values.includes('*') || values.includes(value)
}
