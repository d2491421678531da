/** What a request needs to know of its URL. */

export type Destination = {
  readonly secure: boolean
  /** Without brackets, as the operating system wants it. */
  readonly host: string
  readonly port: number
  /** `host:port`, as people write it. */
  readonly address: string
  /** Value of the Host header: the port is left out where it is the default. */
  readonly authority: string
  /** Path and query. */
  readonly path: string
  /** Value of the Authorization header, where the URL has a user in it. */
  readonly authorization: string | undefined
}

/** Throws a sentence if this is no URL that a request can be sent to. */
export function parseDestination(url: string): Destination {
  const parsed = URL.parse(url)
  if (parsed === null) throw new Error(`"${url}" is not a URL`)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new Error(`"${parsed.protocol}//" is neither http:// nor https://`)
  }
  const secure = parsed.protocol === 'https:'
  const host = parsed.hostname.startsWith('[') ? parsed.hostname.slice(1, -1) : parsed.hostname
  const port = parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port)
  const address = `${parsed.hostname}:${port}`
  return {
    secure,
    host,
    port,
    address,
    // Mostly they are the same: then it is one string.
    authority: parsed.host === address ? address : parsed.host,
    path: parsed.pathname + parsed.search,
    authorization: hasUser(parsed) ? basicAuthorization(parsed) : undefined,
  }
}

/** Throws a sentence, without the password, if this cannot be a proxy. */
export function parseProxy(url: string): Pick<Destination, 'host' | 'address'> {
  const parsed = URL.parse(url)
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) {
    throw new Error('the URL of a proxy must begin with http:// or https://')
  }
  return parseDestination(parsed.href)
}

export function originOf({ secure, authority }: Destination): string {
  return `${secure ? 'https' : 'http'}://${authority}`
}

/** The form in which URLs are compared: default port left out, empty path a slash, without user and fragment. */
export function normalizeUrl(url: string): string {
  const destination = parseDestination(url)
  return originOf(destination) + destination.path
}

function hasUser(url: URL): boolean {
  return url.username !== '' || url.password !== ''
}

function basicAuthorization(url: URL): string {
  const user = `${decode(url.username)}:${decode(url.password)}`
  return `Basic ${Buffer.from(user).toString('base64')}`
}

/** A stray percent sign stands for itself. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
