/** Credentials from kubeconfig files: the parts of a cluster and a user, as kubectl weighs them. */
import { dirname, isAbsolute, join } from 'node:path'
import type { Clock, TlsOptions } from '../component.ts'
import { createLatestAccess, type KubernetesAccess, type KubernetesCredentials } from './access.ts'
import type { CredentialSystem } from './credential-system.ts'
import { createExecPlugin, type ExecCredential } from './exec-plugin.ts'
import { keepFile } from './kept-file.ts'
import { chooseContext } from './kubeconfig.ts'
import type { PlacedMap } from './placed-map.ts'

type Loaded = { readonly context: string; access(): Promise<KubernetesAccess> }

export function createKubeconfigCredentials(
  paths: readonly string[],
  contextName: string | undefined,
  clock: Clock,
  system: CredentialSystem,
): KubernetesCredentials {
  const latest = createLatestAccess()
  let loaded: Loaded | undefined

  function load(): Loaded {
    const { context, cluster, user } = chooseContext(paths, system, contextName)
    return { context, access: createAccess(cluster, user, clock, system) }
  }

  return {
    async access() {
      loaded ??= load()
      return latest.keep(await loaded.access())
    },
    refused(access) {
      if (latest.is(access)) loaded = undefined
    },
    describe: () => `${loaded === undefined ? '' : `context "${loaded.context}" of `}${paths.join(', ')}`,
  }
}

/** Throws an Error that names what is wrong. */
function createAccess(
  cluster: PlacedMap,
  user: PlacedMap,
  clock: Clock,
  system: CredentialSystem,
): () => Promise<KubernetesAccess> {
  const content = createContentReader(clock, system)
  const ca = content(cluster, 'certificate-authority')
  const cert = content(user, 'client-certificate')
  const key = content(user, 'client-key')
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'client-certificate' : 'client-key'
    throw new Error(`${user.place()}: the user has no "${missing}"`)
  }
  const server = serverOf(cluster, ca !== undefined || cert !== undefined)
  const proxyUrl = proxyOf(cluster)
  const serverName = cluster.text('tls-server-name')
  const insecureSkipVerify = cluster.flag('insecure-skip-tls-verify')
  const impersonation = impersonationOf(user)
  const credential = credentialOf(user, cluster, { server, proxyUrl, ca }, clock, system)

  return async () => {
    const { authorization, ...made } = await credential()
    const certificate = made.cert === undefined ? { cert: cert?.(), key: key?.() } : made
    const tls: TlsOptions = defined({ ca: ca?.(), ...certificate, serverName, insecureSkipVerify })
    return {
      server,
      headers: defined({ authorization, ...impersonation }),
      tls,
      ...(proxyUrl !== undefined && { proxyUrl }),
    }
  }
}

/** What is inline goes before what is in a file. A file is seen from the kubeconfig, and read again when it is replaced. */
function createContentReader(
  clock: Clock,
  system: CredentialSystem,
): (map: PlacedMap, key: string) => (() => string) | undefined {
  return (map, key) => {
    const data = map.text(`${key}-data`)
    if (data !== undefined) {
      const base64 = data.replace(/\s/g, '')
      if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
        throw new Error(`${map.place(`${key}-data`)}: "${key}-data" is not base64`)
      const text = Buffer.from(base64, 'base64').toString()
      return () => text
    }
    const path = map.text(key)
    return path === undefined ? undefined : keepFile(fromFile(map, path), `"${key}"`, clock, system)
  }
}

function fromFile({ file }: PlacedMap, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path)
}

/** Without a scheme it is https only where a certificate says that it must be. */
function serverOf(cluster: PlacedMap, hasCertificates: boolean): string {
  const server = cluster.text('server')
  if (server === undefined) throw new Error(`${cluster.place()}: the cluster has no "server"`)
  const isSecure = hasCertificates || cluster.flag('insecure-skip-tls-verify')
  const url = server.includes('://') ? server : `${isSecure ? 'https' : 'http'}://${server}`
  const { protocol } = URL.parse(url) ?? {}
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error(`${cluster.place('server')}: "server" is no http:// or https:// address`)
  }
  return url.replace(/\/+$/, '')
}

function proxyOf(cluster: PlacedMap): string | undefined {
  const proxyUrl = cluster.text('proxy-url')
  if (proxyUrl !== undefined && !/^https?:\/\//.test(proxyUrl)) {
    throw new Error(`${cluster.place('proxy-url')}: "proxy-url" must begin with http:// or https://`)
  }
  return proxyUrl
}

type Shown = { readonly authorization?: string; readonly cert?: string; readonly key?: string }

/** A token goes before a password, and both before a plugin. */
function credentialOf(
  user: PlacedMap,
  cluster: PlacedMap,
  { server, proxyUrl, ca }: { server: string; proxyUrl: string | undefined; ca: (() => string) | undefined },
  clock: Clock,
  system: CredentialSystem,
): () => Promise<Shown> {
  const token = user.text('token')
  const tokenFile = user.text('tokenFile')
  if (tokenFile !== undefined) {
    const read = keepFile(fromFile(user, tokenFile), '"tokenFile"', clock, system)
    return async () => bearer(readOr(read, token).trim())
  }
  if (token !== undefined) return async () => bearer(token)
  const username = user.text('username')
  if (username !== undefined) {
    const pair = Buffer.from(`${username}:${user.text('password') ?? ''}`).toString('base64')
    return async () => ({ authorization: `Basic ${pair}` })
  }
  const exec = user.map('exec')
  if (exec === undefined) {
    if (user.map('auth-provider') !== undefined) {
      throw new Error(`${user.place('auth-provider')}: an "auth-provider" is not supported: use an "exec" plugin`)
    }
    return async () => ({})
  }
  const info = defined({
    server,
    'tls-server-name': cluster.text('tls-server-name'),
    'insecure-skip-tls-verify': cluster.flag('insecure-skip-tls-verify') || undefined,
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca()).toString('base64'),
    'proxy-url': proxyUrl,
    config: execExtension(cluster),
  })
  const run = createExecPlugin(exec, info, clock, system)
  return async () => shown(await run())
}

function readOr(read: () => string, fallback: string | undefined): string {
  try {
    return read()
  } catch (error) {
    if (fallback === undefined) throw error
    return fallback
  }
}

function shown({ token, ...certificate }: ExecCredential): Shown {
  return { ...(token !== undefined && bearer(token)), ...certificate }
}

function bearer(token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** What a cluster tells plugins, and only them. */
function execExtension(cluster: PlacedMap): unknown {
  const extension = cluster.maps('extensions').find(one => one.text('name') === 'client.authentication.k8s.io/exec')
  return extension?.plain('extension')
}

/** Acting as somebody else with fewer rights: to leave it out silently would be to act with more. */
function impersonationOf(user: PlacedMap): Record<string, string | undefined> {
  const [group, ...others] = user.texts('as-groups')
  if (others.length > 0 || user.map('as-user-extra') !== undefined) {
    const key = others.length > 0 ? 'as-groups' : 'as-user-extra'
    throw new Error(`${user.place(key)}: "${key}" is not supported beyond one group`)
  }
  return {
    'impersonate-user': user.text('as'),
    'impersonate-uid': user.text('as-uid'),
    'impersonate-group': group,
  }
}

/** Without what is undefined. */
function defined<T extends Record<string, unknown>>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
