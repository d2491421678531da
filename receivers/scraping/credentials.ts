/** What a receiver shows to its targets: headers and certificates, some of them from files that are replaced while it runs. */
import { readFileSync } from 'node:fs'
import type { Clock, ConfigOf, TlsOptions } from '../../pipeline/component.ts'
import type { authorization, basicAuth, tls } from '../../pipeline/config/fields.ts'

export type CredentialsConfig = {
  readonly basic_auth?: ConfigOf<typeof basicAuth>
  readonly authorization?: ConfigOf<typeof authorization>
  readonly tls?: ConfigOf<typeof tls>
}

export type Credentials = {
  /** Throws an Error that names the file if that cannot be read. */
  headers(): Readonly<Record<string, string>>
  tls(): TlsOptions | undefined
}

/** How old what was read from a file may be: new enough for tokens that are replaced minutes before they expire. */
const MAX_AGE_MS = 10_000

export function createCredentials(config: CredentialsConfig, clock: Clock): Credentials {
  const { basic_auth, authorization, tls } = config
  return {
    headers: keptFor(clock, () => {
      if (basic_auth !== undefined) {
        const password = basic_auth.password ?? readSecret(basic_auth.password_file) ?? ''
        return { authorization: `Basic ${Buffer.from(`${basic_auth.username}:${password}`).toString('base64')}` }
      }
      if (authorization === undefined) return {}
      const credentials = authorization.credentials ?? readSecret(authorization.credentials_file)
      return credentials === undefined ? {} : { authorization: `${authorization.type} ${credentials}` }
    }),
    tls: keptFor(clock, () => {
      if (tls === undefined) return undefined
      const ca = readText(tls.ca_file)
      const cert = readText(tls.cert_file)
      const key = readText(tls.key_file)
      return {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(tls.server_name_override !== undefined && { serverName: tls.server_name_override }),
        insecureSkipVerify: tls.insecure_skip_verify,
      }
    }),
  }
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

function readSecret(path: string | undefined): string | undefined {
  return readText(path)?.trim()
}

function readText(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new Error(`cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
}
