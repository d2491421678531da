/** How Prometheus lets users say who they are and which way requests go, and what that is here. */
import type { ConfigOf, Problem } from '../../pipeline/component.ts'
import { authorization, secret, url } from '../../pipeline/config/fields.ts'
import type { CredentialsConfig } from '../../pipeline/http/credentials.ts'

const tlsConfig = {
  type: 'object',
  properties: {
    ca: { type: 'string', description: 'Certificates of the authorities to trust (PEM).' },
    ca_file: { type: 'string', description: 'File with these certificates.' },
    cert: { type: 'string', description: 'Own certificate (PEM).' },
    cert_file: { type: 'string', description: 'File with the own certificate.' },
    key: secret('Private key of the own certificate (PEM).'),
    key_file: { type: 'string', description: 'File with the private key.' },
    server_name: { type: 'string', description: 'Name to expect in the certificate, where it is not the host.' },
    insecure_skip_verify: { type: 'boolean', default: false, description: 'Accept any certificate.' },
  },
  unsupported: {
    min_version: 'the versions of TLS are those that Node takes',
    max_version: 'the versions of TLS are those that Node takes',
  },
  additionalProperties: false,
  description: 'TLS towards the server.',
} as const

const basicAuth = {
  type: 'object',
  properties: {
    username: { type: 'string', description: 'User name.' },
    username_file: { type: 'string', description: 'File that holds the user name.' },
    password: secret('Password.'),
    password_file: { type: 'string', description: 'File that holds the password.' },
  },
  additionalProperties: false,
  description: 'Basic authentication.',
} as const

const httpHeaders = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: {
      values: { type: 'array', items: { type: 'string' }, description: 'Values.' },
      secrets: { type: 'array', items: { type: 'string', secret: true }, description: 'Values that are never shown.' },
      files: { type: 'array', items: { type: 'string' }, description: 'Files that hold values.' },
    },
    additionalProperties: false,
  },
  description: 'HTTP headers to send with each request, by name.',
} as const

/** Keys of everything that sends requests in a Prometheus config. */
export const httpClientFields = {
  basic_auth: basicAuth,
  authorization,
  bearer_token: secret('The older way to write `authorization`.'),
  bearer_token_file: {
    type: 'string',
    description: 'The older way to write `authorization`, with the token in a file.',
  },
  tls_config: tlsConfig,
  proxy_url: url('Proxy to go through.'),
  follow_redirects: { type: 'boolean', default: true, description: 'Go where one is redirected to.' },
  enable_http2: { type: 'boolean', enum: [false], description: 'Requests are HTTP/1.1.' },
  http_headers: httpHeaders,
} as const

export const httpClientUnsupported = {
  oauth2: 'write a token into a file and name it in `authorization.credentials_file`',
  no_proxy: 'set `proxy_url` only where a proxy is to be used',
  proxy_from_environment: 'set `proxy_url`, as in ${env:HTTPS_PROXY}',
  proxy_connect_header: 'a proxy gets no headers of its own',
} as const

const schema = { type: 'object', properties: httpClientFields, additionalProperties: false } as const
export type HttpClientConfig = ConfigOf<typeof schema>

export function credentialsOf(config: HttpClientConfig): CredentialsConfig {
  const { basic_auth, bearer_token, bearer_token_file, tls_config, http_headers } = config
  const authorization = config.authorization ?? bearer(bearer_token, bearer_token_file)
  return {
    ...(basic_auth && { basic_auth }),
    ...(authorization && { authorization }),
    ...(tls_config && { tls: tlsOf(tls_config) }),
    ...(http_headers && { http_headers }),
  }
}

function bearer(credentials: string | undefined, credentials_file: string | undefined) {
  if (credentials !== undefined) return { type: 'Bearer', credentials }
  return credentials_file === undefined ? undefined : { type: 'Bearer', credentials_file }
}

function tlsOf({ server_name, ...rest }: ConfigOf<typeof tlsConfig>): NonNullable<CredentialsConfig['tls']> {
  return { ...rest, ...(server_name !== undefined && { server_name_override: server_name }) }
}

/** What may stand there only once, in one form or another. */
const ONE_OF: readonly (readonly string[])[] = [
  ['basic_auth', 'authorization', 'bearer_token', 'bearer_token_file'],
  ['basic_auth.username', 'basic_auth.username_file'],
  ['basic_auth.password', 'basic_auth.password_file'],
  ['authorization.credentials', 'authorization.credentials_file'],
  ['tls_config.ca', 'tls_config.ca_file'],
  ['tls_config.cert', 'tls_config.cert_file'],
  ['tls_config.key', 'tls_config.key_file'],
]

export function checkHttpClient(config: HttpClientConfig): Problem[] {
  const problems = ONE_OF.flatMap(names => {
    const [first, second] = names.filter(name => valueAt(config, name) !== undefined)
    if (second === undefined) return []
    return [
      { path: second.split('.'), message: `there is \`${lastOf(first!)}\` already: only one of the two can count` },
    ]
  })
  const { cert, cert_file, key, key_file } = config.tls_config ?? {}
  if ((cert ?? cert_file) !== undefined && (key ?? key_file) === undefined) {
    problems.push({ path: ['tls_config'], message: 'a certificate needs its `key` or `key_file`' })
  }
  return problems
}

function valueAt(config: HttpClientConfig, name: string): unknown {
  return name.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], config)
}

function lastOf(name: string): string {
  return name.split('.').at(-1)!
}
