/** What is shown to servers: headers and certificates, some of them from files that are replaced while it runs. */
import { readFileSync } from 'node:fs'
import type { Clock, TlsOptions } from '../component.ts'

/** As configs have it. A text in a file takes the place of one that is written out. */
export type CredentialsConfig = {
  readonly basic_auth?: {
    readonly username?: string
    readonly username_file?: string
    readonly password?: string
    readonly password_file?: string
  }
  readonly authorization?: {
    readonly type: string
    readonly credentials?: string
    readonly credentials_file?: string
  }
  readonly tls?: {
    readonly ca?: string
    readonly ca_file?: string
    readonly cert?: string
    readonly cert_file?: string
    readonly key?: string
    readonly key_file?: string
    readonly server_name_override?: string
    readonly insecure_skip_verify: boolean
  }
  /** By name; several values are joined. */
  readonly http_headers?: Readonly<
    Record<
      string,
      { readonly values?: readonly string[]; readonly secrets?: readonly string[]; readonly files?: readonly string[] }
    >
  >
}

export type Credentials = {
  /** Throws an Error that names the file if that cannot be read. */
  headers(): Readonly<Record<string, string>>
  tls(): TlsOptions | undefined
}

/** How old what was read from a file may be: new enough for tokens that are replaced minutes before they expire. */
const MAX_AGE_MS = 10_000

export function createCredentials(config: CredentialsConfig, clock: Clock): Credentials {
  // Most have neither files nor secrets, and are asked for with every scrape.
  const keep = <T>(read: () => T): (() => T) => (namesFiles(config) ? keptFor(clock, read) : once(read))
  return {
    headers: keep(() => ({ ...ownHeaders(config), ...authorizationOf(config) })),
    tls: keep(() => tlsOf(config)),
  }
}

function ownHeaders({ http_headers = {} }: CredentialsConfig): Record<string, string> {
  return Object.fromEntries(
    Object.entries(http_headers).map(([name, { values = [], secrets = [], files = [] }]) => [
      name.toLowerCase(),
      [...values, ...secrets, ...files.map(file => readText(file).trim())].join(', '),
    ]),
  )
}

function authorizationOf({ basic_auth, authorization }: CredentialsConfig): Record<string, string> {
  if (basic_auth !== undefined) {
    const username = textOr(basic_auth.username, basic_auth.username_file) ?? ''
    const password = textOr(basic_auth.password, basic_auth.password_file) ?? ''
    return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  }
  if (authorization === undefined) return {}
  const credentials = textOr(authorization.credentials, authorization.credentials_file)
  return credentials === undefined ? {} : { authorization: `${authorization.type} ${credentials}` }
}

function tlsOf({ tls }: CredentialsConfig): TlsOptions | undefined {
  if (tls === undefined) return undefined
  const ca = textOr(tls.ca, tls.ca_file)
  const cert = textOr(tls.cert, tls.cert_file)
  const key = textOr(tls.key, tls.key_file)
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(tls.server_name_override !== undefined && { serverName: tls.server_name_override }),
    insecureSkipVerify: tls.insecure_skip_verify,
  }
}

function namesFiles({ basic_auth, authorization, tls, http_headers = {} }: CredentialsConfig): boolean {
  const parts = [basic_auth, authorization, tls, ...Object.values(http_headers)]
  return parts.some(part => part !== undefined && Object.keys(part).some(key => /(^|_)files?$/.test(key)))
}

function once<T>(read: () => T): () => T {
  let value: { readonly of: T } | undefined
  return () => (value ??= { of: read() }).of
}

/** The same object until it is too old, so that connections can be kept as long as nothing changes. */
function keptFor<T>(clock: Clock, read: () => T): () => T {
  let kept: { value: T; text: string; atMs: number } | undefined
  return () => {
    const nowMs = clock.monotonic()
    if (kept !== undefined && nowMs - kept.atMs < MAX_AGE_MS) return kept.value
    const value = read()
    const text = JSON.stringify(value ?? null)
    if (kept?.text === text) kept.atMs = nowMs
    else kept = { value, text, atMs: nowMs }
    return kept.value
  }
}

/** Editors end files with a line feed that belongs to nothing in it. */
function textOr(text: string | undefined, file: string | undefined): string | undefined {
  return text ?? (file === undefined ? undefined : readText(file).trim())
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
}
