/**
 * Programs that make credentials (`aws eks get-token`, `gke-gcloud-auth-plugin`, ...): they are told what is wanted in the variable
 * KUBERNETES_EXEC_INFO and print an ExecCredential of the group client.authentication.k8s.io.
 */
import { isAbsolute, dirname, join } from 'node:path'
import type { Clock } from '../component.ts'
import type { CredentialSystem, Finished } from './credential-system.ts'
import type { PlacedMap } from './placed-map.ts'

export type ExecCredential = { readonly token?: string; readonly cert?: string; readonly key?: string }

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']
/** A credential is made anew this long before it expires, so that no request is under way when it does. */
const EARLY_MS = 30_000

/**
 * Runs the program when a credential is wanted and there is none that is still good, and for all who wait once. `cluster` is what
 * the program may be told about the cluster.
 */
export function createExecPlugin(
  exec: PlacedMap,
  cluster: Readonly<Record<string, unknown>>,
  clock: Clock,
  system: CredentialSystem,
): () => Promise<ExecCredential> {
  const command = commandOf(exec)
  const apiVersion = exec.text('apiVersion') ?? ''
  if (!API_VERSIONS.includes(apiVersion)) {
    throw new Error(`${exec.place('apiVersion')}: "apiVersion" must be one of ${API_VERSIONS.join(', ')}`)
  }
  if (exec.text('interactiveMode') === 'Always') {
    throw new Error(`${exec.place('interactiveMode')}: "${command}" wants to ask somebody, and nobody is there`)
  }
  const spec = { ...(exec.flag('provideClusterInfo') && { cluster }), interactive: false }
  const env: Record<string, string | undefined> = { ...system.env }
  for (const variable of exec.maps('env')) env[variable.text('name') ?? ''] = variable.text('value') ?? ''
  env['KUBERNETES_EXEC_INFO'] = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec })
  const args = exec.texts('args')

  let made: { readonly credential: ExecCredential; readonly goodUntilMs: number } | undefined
  let running: Promise<ExecCredential> | undefined

  async function make(): Promise<ExecCredential> {
    let finished: Finished
    try {
      finished = await system.run(command, args, env)
    } catch (error) {
      throw cannotRun(command, exec, error)
    }
    const { code, output, errors } = finished
    if (code !== 0)
      throw new Error(`"${command}" made no credential: ${withoutSecrets(errors) || `it ended with ${code}`}`)
    const { expiresAtMs, ...credential } = readCredential(command, apiVersion, output)
    // From here on the time is measured by a clock that nobody sets.
    const goodForMs = expiresAtMs === undefined ? Infinity : expiresAtMs - clock.now() - EARLY_MS
    made = { credential, goodUntilMs: clock.monotonic() + goodForMs }
    return credential
  }

  return () => {
    if (made !== undefined && clock.monotonic() < made.goodUntilMs) return Promise.resolve(made.credential)
    running ??= make().finally(() => (running = undefined))
    return running
  }
}

/** A path that is not absolute is seen from the file it stands in; a mere name is looked for where the system looks. */
function commandOf(exec: PlacedMap): string {
  const command = exec.text('command')
  if (command === undefined) throw new Error(`${exec.place()}: the exec plugin has no "command"`)
  return command.includes('/') && !isAbsolute(command) ? join(dirname(exec.file), command) : command
}

function cannotRun(command: string, exec: PlacedMap, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const reason = code === 'ENOENT' ? 'there is no such program' : message
  const hint = exec.text('installHint')
  return new Error(`cannot run "${command}": ${reason}${hint === undefined ? '' : `. ${hint.trim()}`}`, {
    cause: error,
  })
}

type Printed = {
  kind?: unknown
  apiVersion?: unknown
  status?: { token?: unknown; clientCertificateData?: unknown; clientKeyData?: unknown; expirationTimestamp?: unknown }
}

function readCredential(
  command: string,
  apiVersion: string,
  output: string,
): ExecCredential & { readonly expiresAtMs?: number } {
  const wrong = (what: string): Error => new Error(`what "${command}" printed is no credential: ${what}`)
  let printed: Printed | null
  try {
    printed = JSON.parse(output) as Printed | null
  } catch {
    throw wrong('it is not JSON')
  }
  if (printed?.kind !== 'ExecCredential') throw wrong('its kind is not ExecCredential')
  if (printed.apiVersion !== apiVersion) throw wrong(`its apiVersion is not ${apiVersion}`)
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = printed.status ?? {}
  for (const [name, value] of Object.entries({ token, clientCertificateData: cert, clientKeyData: key })) {
    if (value !== undefined && typeof value !== 'string') throw wrong(`its ${name} is no text`)
  }
  if (!token && !cert) throw wrong('it has neither token nor clientCertificateData')
  if (Boolean(cert) !== Boolean(key)) throw wrong('of clientCertificateData and clientKeyData it has only one')
  const expiresAtMs =
    expirationTimestamp === undefined || expirationTimestamp === null ? undefined : timeOf(expirationTimestamp)
  if (Number.isNaN(expiresAtMs)) throw wrong('its expirationTimestamp is no time')
  return {
    ...(token ? { token: token as string } : {}),
    ...(cert ? { cert: cert as string, key: key as string } : {}),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
  }
}

function timeOf(timestamp: unknown): number {
  return typeof timestamp === 'string' ? Date.parse(timestamp) : NaN
}

/** The last line of what a program complains about, without anything that could be a token or a key. */
function withoutSecrets(errors: string): string {
  const last = errors.trim().split('\n').at(-1) ?? ''
  return last
    .trim()
    .slice(0, 300)
    .replace(/[\w+/=.-]{40,}/g, '[redacted]')
}
