/**
 * Who may ask a listener, and how it proves who it is: TLS, client certificates, passwords and tokens, as configs have them. Files are
 * read again as soon as they are replaced; while what is new cannot be used, what was read before counts, and the log says so.
 */
import type { ListenOptions, Log, TlsOptions } from '../component.ts'
import { readWhenReplaced } from './replaced-file.ts'

export type ServerSecurityConfig = {
  readonly tls?: { readonly cert_file: string; readonly key_file: string; readonly client_ca_file?: string }
  readonly basic_auth?: { readonly username: string; readonly password?: string; readonly password_file?: string }
  readonly authorization?: { readonly type: string; readonly credentials?: string; readonly credentials_file?: string }
}

/**
 * For `listen`, when it begins. Throws an Error that says what is wrong with a file if that cannot be used from the start. `refused`
 * is called for each request that is not let in.
 */
export function createServerSecurity(config: ServerSecurityConfig, log: Log, refused?: () => void): ListenOptions {
  const { tls, basic_auth, authorization } = config
  const ways: Way[] = []
  if (basic_auth !== undefined) {
    const passwords = secretsOf(basic_auth.password, basic_auth.password_file, log)
    ways.push({
      scheme: 'basic',
      challenge: 'Basic realm="gpucol", charset="UTF-8"',
      accepted: () => passwords().map(password => Buffer.from(`${basic_auth.username}:${password}`).toString('base64')),
    })
  }
  if (authorization !== undefined) {
    const { type, credentials, credentials_file } = authorization
    const accepted = secretsOf(credentials, credentials_file, log)
    ways.push({ scheme: type.toLowerCase(), challenge: `${type} realm="gpucol"`, accepted })
  }
  return {
    ...(tls && { tls: certificates(tls, log) }),
    ...(ways.length > 0 && { authorize: authorizer(ways, refused) }),
  }
}

/** One of the ways to be let in. */
type Way = {
  /** First word of the Authorization header, in lower case. */
  readonly scheme: string
  readonly challenge: string
  /** What may follow that word. */
  accepted(): readonly string[]
}

function authorizer(ways: readonly Way[], refused?: () => void): NonNullable<ListenOptions['authorize']> {
  const challenges = ways.map(({ challenge }) => challenge)
  return ({ headers }) => {
    if (isAccepted(ways, headers.authorization ?? '')) return undefined
    refused?.()
    return challenges
  }
}

function isAccepted(ways: readonly Way[], header: string): boolean {
  const [, scheme = '', given = ''] = /^(\S+) +(\S+)\s*$/.exec(header) ?? []
  const way = ways.find(each => each.scheme === scheme.toLowerCase())
  // All are compared, so that time tells nothing.
  const matches = way?.accepted().filter(accepted => isSame(accepted, given)) ?? []
  return matches.length > 0
}

/** Of texts of any length, in a time that does not tell how much of them is the same. */
function isSame(accepted: string, given: string): boolean {
  // Here and below loaded when needed: most listeners ask for no password and have no TLS.
  const { createHash, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(accepted), digest(given))
}

/** A file may have several, one per line, so that a new one can be handed out before the old one goes. */
function secretsOf(text: string | undefined, file: string | undefined, log: Log): () => readonly string[] {
  if (file === undefined) return () => [text!]
  const read = readWhenReplaced(file)
  return keepUsable(file, log, [read], ([content = '']) => {
    const secrets = content.split(/\r?\n/).filter(line => line !== '')
    // A file that is just being written is empty for a moment.
    if (secrets.length === 0) throw new Error(`"${file}" is empty`)
    return secrets
  })
}

function certificates(tls: NonNullable<ServerSecurityConfig['tls']>, log: Log): () => TlsOptions {
  const { cert_file, key_file, client_ca_file } = tls
  const files = [cert_file, key_file, ...(client_ca_file === undefined ? [] : [client_ca_file])]
  return keepUsable(cert_file, log, files.map(readWhenReplaced), ([cert, key, ca]) => {
    const options = { cert: cert!, key: key!, ...(ca !== undefined && { ca }) }
    try {
      process.getBuiltinModule('node:tls').createSecureContext(options)
    } catch (cause) {
      const names = files.map(file => `"${file}"`).join(', ')
      throw new Error(`${names} cannot be used for TLS: ${(cause as Error).message}`, { cause })
    }
    return options
  })
}

/** What is made of some files: the same until one of them changes, and as long as what they have become cannot be used. */
function keepUsable<T>(
  subject: string,
  log: Log,
  files: readonly (() => string)[],
  make: (texts: readonly string[]) => T,
): () => T {
  let texts: readonly string[] = files.map(read => read())
  let made = make(texts)
  return () => {
    try {
      const now = files.map(read => read())
      if (now.some((text, i) => text !== texts[i])) {
        made = make(now)
        texts = now
        log.info('read again what was replaced', { file: subject })
      }
      log.state(subject, 'ok')
    } catch (error) {
      log.state(subject, 'failing', `${(error as Error).message}; what was read before counts`)
    }
    return made
  }
}
