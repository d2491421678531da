/**
 * Parts of config schemas that many components share, so that one thing has one key, one spelling and one description.
 *
 * Each is a plain JSON schema, or a function that gives one; put them under `properties`. A key with a default is always there
 * when `create` sees the config. Durations and sizes arrive as text: call `parseDuration` and `parseSize` once, in `create`.
 */
export { parseDuration } from './duration.ts'
export { parseSize } from './size.ts'
export { parseEndpoint } from './endpoint.ts'

type Text<Format extends string> = { readonly type: 'string'; readonly format: Format; readonly description: string }
type WithDefault = { readonly default: string }

/** `15s`, `1h30m`, `0`. */
export function duration(description: string): Text<'duration'>
export function duration(description: string, defaultValue: string): Text<'duration'> & WithDefault
export function duration(description: string, defaultValue?: string) {
  return text('duration', description, defaultValue)
}

/** `64MiB`, or a number of bytes. */
export function size(description: string): Text<'size'>
export function size(description: string, defaultValue: string): Text<'size'> & WithDefault
export function size(description: string, defaultValue?: string) {
  return text('size', description, defaultValue)
}

/** `host:port`. Listeners default to 127.0.0.1: whoever wants to be reached from outside says so. */
export function endpoint(description: string): Text<'endpoint'>
export function endpoint(description: string, defaultValue: string): Text<'endpoint'> & WithDefault
export function endpoint(description: string, defaultValue?: string) {
  return text('endpoint', description, defaultValue)
}

/** `http://...` or `https://...`. */
export function url(description: string): Text<'url'>
export function url(description: string, defaultValue: string): Text<'url'> & WithDefault
export function url(description: string, defaultValue?: string) {
  return text('url', description, defaultValue)
}

function text(format: string, description: string, defaultValue: string | undefined) {
  const field = { type: 'string', format, description }
  return defaultValue === undefined ? field : { ...field, default: defaultValue }
}

/** A text that is never shown. */
export function secret<const D extends string>(description: D) {
  return { type: 'string', secret: true, description } as const
}

/** Any of these may hold a token, so no value of a header is ever shown. */
export const headers = {
  type: 'object',
  additionalProperties: { type: 'string', secret: true },
  description: 'HTTP headers to send with each request.',
} as const

export const labels = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Labels to add, by name.',
} as const

/** How to talk TLS to a server. */
export const tls = {
  type: 'object',
  properties: {
    ca_file: {
      type: 'string',
      description: 'Certificates of the authorities to trust (PEM) instead of those Node brings.',
    },
    cert_file: { type: 'string', description: 'Own certificate (PEM), for servers that want one.' },
    key_file: { type: 'string', description: 'Private key of the own certificate (PEM).' },
    server_name_override: {
      type: 'string',
      description: 'Name to expect in the certificate, where it is not the host.',
    },
    insecure_skip_verify: {
      type: 'boolean',
      default: false,
      description: 'Accept any certificate. Whoever is in between can then read and change everything.',
    },
  },
  dependencies: { cert_file: ['key_file'], key_file: ['cert_file'] },
  additionalProperties: false,
  description: 'TLS towards the server. Files are read again after ten seconds, so that they may be replaced.',
} as const

/** How a listener talks TLS. */
const serverTls = {
  type: 'object',
  properties: {
    cert_file: { type: 'string', description: 'Certificate, with those that lead to its authority (PEM).' },
    key_file: { type: 'string', description: 'Private key (PEM).' },
    client_ca_file: {
      type: 'string',
      description: 'Authorities whose client certificates are required (PEM). Without it clients need none.',
    },
  },
  required: ['cert_file', 'key_file'],
  additionalProperties: false,
  description: 'Serve HTTPS instead of HTTP. The files are read again when they are replaced.',
} as const

/** Whom a listener lets in by password. */
const serverBasicAuth = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'User name.' },
    password: secret('Password.'),
    password_file: {
      type: 'string',
      description: 'File with the password, or several, one per line; read again when it is replaced.',
    },
  },
  required: ['username'],
  oneOf: [{ required: ['password'] }, { required: ['password_file'] }],
  additionalProperties: false,
  description: 'Answer only those who bring this user name and password.',
} as const

/** Whom a listener lets in by token. */
const serverAuthorization = {
  type: 'object',
  properties: {
    type: {
      type: 'string',
      pattern: '^[A-Za-z0-9-]+$',
      default: 'Bearer',
      description: 'First word of the Authorization header.',
    },
    credentials: secret('What has to follow the first word, usually a token.'),
    credentials_file: {
      type: 'string',
      description: 'File with the token, or several, one per line; read again when it is replaced.',
    },
  },
  oneOf: [{ required: ['credentials'] }, { required: ['credentials_file'] }],
  additionalProperties: false,
  description: 'Answer only those who bring this token; beside `basic_auth` either is enough.',
} as const

/** For everything that listens; `createServerSecurity` of `http/server-security.ts` takes them. */
export const serverSecurity = {
  tls: serverTls,
  basic_auth: serverBasicAuth,
  authorization: serverAuthorization,
} as const

export const basicAuth = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'User name.' },
    password: secret('Password.'),
    password_file: { type: 'string', description: 'File that holds the password; read again when it changes.' },
  },
  required: ['username'],
  additionalProperties: false,
  description: 'Basic authentication.',
} as const

export const authorization = {
  type: 'object',
  properties: {
    type: { type: 'string', default: 'Bearer', description: 'First word of the Authorization header.' },
    credentials: secret('What follows the first word, usually a token.'),
    credentials_file: { type: 'string', description: 'File that holds the credentials; read again when it changes.' },
  },
  additionalProperties: false,
  description: 'The Authorization header, usually a bearer token.',
} as const
