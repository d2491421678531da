/** What a path of the API leads to. */

export type ResourcePath = {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  /** The older way to ask for a watch: `/api/v1/watch/pods`. */
  readonly isWatch: boolean
}

export type RequestPath =
  | { readonly to: 'version' | 'health' | 'core' | 'groups' }
  | { readonly to: 'group'; readonly group: string }
  | { readonly to: 'group version'; readonly group: string; readonly version: string }
  | ({ readonly to: 'resource' } & ResourcePath)
  | { readonly to: 'nothing' }

/** What may follow the name of a namespace and is no resource in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

export function parseRequestPath(path: string): RequestPath {
  const [first, ...rest] = path
    .split('/')
    .filter(part => part !== '')
    .map(decode)
  switch (first) {
    case 'version':
      return { to: rest.length === 0 ? 'version' : 'nothing' }
    case 'healthz':
    case 'livez':
    case 'readyz':
      return { to: 'health' }
    case 'api':
      return rest.length === 0 ? { to: 'core' } : inGroup('', rest)
    case 'apis':
      if (rest.length === 0) return { to: 'groups' }
      return rest.length === 1 ? { to: 'group', group: rest[0]! } : inGroup(rest[0]!, rest.slice(1))
    default:
      return { to: 'nothing' }
  }
}

function inGroup(group: string, [version, ...rest]: readonly string[]): RequestPath {
  if (rest.length === 0) return { to: 'group version', group, version: version! }
  const isWatch = rest[0] === 'watch'
  const parts = isWatch ? rest.slice(1) : rest
  const isInNamespace = parts[0] === 'namespaces' && parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)
  const [plural, name, subresource] = isInNamespace ? parts.slice(2) : parts
  if (plural === undefined) return { to: 'nothing' }
  return {
    to: 'resource',
    group,
    version: version!,
    plural,
    isWatch,
    ...(isInNamespace && { namespace: parts[1]! }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
