/** Kubeconfig files: several are one, as for kubectl, and a context of them says which cluster is asked as which user. */
import { delimiter } from 'node:path'
import type { CredentialSystem } from './credential-system.ts'
import { unreadable } from './kept-file.ts'
import { readPlacedMap, type PlacedMap } from './placed-map.ts'

export type KubeconfigChoice = { readonly context: string; readonly cluster: PlacedMap; readonly user: PlacedMap }

/** Entries by name, each as the first file that has it says it. */
type Kubeconfig = {
  readonly files: readonly string[]
  readonly clusters: Map<string, PlacedMap>
  readonly users: Map<string, PlacedMap>
  readonly contexts: Map<string, PlacedMap>
  /** The name, and the place where it is said. */
  current: { readonly name: string; readonly place: string } | undefined
}

/** The files of a list as in the variable KUBECONFIG; `~/` is the home directory, which a shell would have put in. */
export function kubeconfigPaths(list: string, env: CredentialSystem['env']): string[] {
  const paths = list.split(delimiter).filter(path => path !== '')
  const home = env['HOME']
  return [...new Set(paths)].map(path => (path.startsWith('~/') && home !== undefined ? home + path.slice(1) : path))
}

/**
 * Reads the files and chooses a context, the current one unless another is named. Throws an Error that says where the mistake is, or
 * what is missing.
 */
export function chooseContext(
  paths: readonly string[],
  system: CredentialSystem,
  contextName?: string,
): KubeconfigChoice {
  const kubeconfig = readKubeconfig(paths, system)
  const files = kubeconfig.files.map(file => `"${file}"`).join(', ')
  const wanted = contextName === undefined ? kubeconfig.current : { name: contextName, place: files }
  if (wanted === undefined) throw new Error(`there is no "current-context" in the kubeconfig ${files}`)
  const context = kubeconfig.contexts.get(wanted.name)
  if (context === undefined) throw new Error(`${wanted.place}: there is no context "${wanted.name}"`)

  function named(what: 'cluster' | 'user', among: ReadonlyMap<string, PlacedMap>): PlacedMap {
    const name = context!.text(what)
    if (name === undefined) throw new Error(`${context!.place()}: context "${wanted!.name}" names no ${what}`)
    const found = among.get(name)
    if (found === undefined) throw new Error(`${context!.place(what)}: there is no ${what} "${name}"`)
    return found
  }
  return {
    context: wanted.name,
    cluster: named('cluster', kubeconfig.clusters),
    user: named('user', kubeconfig.users),
  }
}

/** Of several files those that are missing are passed over, as long as there is one. */
function readKubeconfig(paths: readonly string[], system: CredentialSystem): Kubeconfig {
  const files: string[] = []
  const kubeconfig: Kubeconfig = {
    files,
    clusters: new Map(),
    users: new Map(),
    contexts: new Map(),
    current: undefined,
  }
  let missing: Error | undefined
  for (const path of paths) {
    let text: string
    try {
      text = system.readFile(path)
    } catch (error) {
      const failure = unreadable('the kubeconfig', path, error)
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw failure
      missing ??= failure
      continue
    }
    files.push(path)
    const root = readPlacedMap(path, text)
    if (root !== undefined) addFile(kubeconfig, root)
  }
  if (files.length === 0) throw missing ?? new Error('no kubeconfig is named')
  return kubeconfig
}

function addFile(kubeconfig: Kubeconfig, root: PlacedMap): void {
  const kind = root.text('kind') ?? 'Config'
  if (kind !== 'Config') throw new Error(`${root.place('kind')}: this is a ${kind}, not a kubeconfig`)
  addEntries(kubeconfig.clusters, root, 'clusters', 'cluster')
  addEntries(kubeconfig.users, root, 'users', 'user')
  addEntries(kubeconfig.contexts, root, 'contexts', 'context')
  const current = root.text('current-context')
  if (current !== undefined) kubeconfig.current ??= { name: current, place: root.place('current-context') }
}

function addEntries(known: Map<string, PlacedMap>, root: PlacedMap, listKey: string, key: string): void {
  const own = new Map<string, PlacedMap>()
  for (const item of root.maps(listKey)) {
    const name = item.text('name') ?? ''
    if (own.has(name)) throw new Error(`${item.place('name')}: there are two ${listKey} "${name}"`)
    // An entry may say nothing but its name.
    own.set(name, item.map(key) ?? item)
  }
  for (const [name, entry] of own) if (!known.has(name)) known.set(name, entry)
}
