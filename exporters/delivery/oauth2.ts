/** OAuth 2.0 client credentials (RFC 6749, 4.4): one token for all requests, kept until shortly before it ends. */
import { readFile } from 'node:fs/promises'
import type { Host, NetworkRequest } from '../../pipeline/component.ts'
import { parseDuration } from '../../pipeline/config/fields.ts'
import { createCredentials } from '../../pipeline/http/credentials.ts'
import { environmentProxy } from '../../pipeline/http/environment-proxy.ts'
import { readBody, type WholeResponse } from '../../pipeline/http/read-body.ts'
import type { OAuth2Config } from './push-config.ts'

export type OAuth2 = {
  /** The header. Rejects with a sentence if no token can be had. */
  authorization(signal: AbortSignal): Promise<string>
  /** The server does not take this one any more. */
  forget(authorization: string): void
}

type Token = { readonly authorization: string; readonly untilMs: number }

const ANSWER_LIMIT_BYTES = 1024 * 1024
/** Of a token that does not say when it ends. */
const USUAL_LIFE_MS = 3_600_000

export function createOAuth2({ network, clock }: Host, config: OAuth2Config, proxyUrl: string | undefined): OAuth2 {
  const credentials = createCredentials(config.tls === undefined ? {} : { tls: config.tls }, clock)
  let token: Token | undefined
  let fetching: Promise<Token> | undefined

  async function fetchToken(): Promise<Token> {
    const request = tokenRequest(
      config,
      await clientOf(config),
      credentials.tls(),
      proxyUrl ?? environmentProxy(config.token_url),
    )
    const askedMs = clock.monotonic()
    let answer: WholeResponse
    try {
      answer = await readBody(network, request, ANSWER_LIMIT_BYTES)
    } catch (error) {
      throw new Error(`no token from ${config.token_url}: ${(error as Error).message}`, { cause: error })
    }
    const { access_token, token_type = 'Bearer', expires_in } = tokenFrom(answer, config.token_url)
    const lifeMs = Number.isFinite(Number(expires_in)) ? Number(expires_in) * 1000 : USUAL_LIFE_MS
    // Of a short life at most half is given up.
    const untilMs = askedMs + lifeMs - Math.min(parseDuration(config.expiry_buffer), lifeMs / 2)
    return { authorization: `${/^bearer$/i.test(token_type) ? 'Bearer' : token_type} ${access_token}`, untilMs }
  }

  return {
    async authorization(signal) {
      signal.throwIfAborted()
      if (token !== undefined && clock.monotonic() < token.untilMs) return token.authorization
      // Whoever comes meanwhile waits for the same one.
      fetching ??= fetchToken().finally(() => (fetching = undefined))
      token = await fetching
      return token.authorization
    },
    forget(authorization) {
      if (token?.authorization === authorization) token = undefined
    },
  }
}

async function clientOf(config: OAuth2Config): Promise<{ id: string; secret: string }> {
  const [id, secret] = await Promise.all([
    config.client_id ?? textIn(config.client_id_file!),
    config.client_secret ?? textIn(config.client_secret_file!),
  ])
  return { id, secret }
}

async function textIn(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw new Error(`cannot read "${path}": ${(cause as Error).message}`, { cause })
  }
}

function tokenRequest(
  config: OAuth2Config,
  client: { readonly id: string; readonly secret: string },
  tls: NetworkRequest['tls'],
  proxyUrl: string | undefined,
): NetworkRequest {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...config.endpoint_params })
  if (config.scopes.length > 0) form.set('scope', config.scopes.join(' '))
  // The form is encoded before it is put into the header (RFC 6749, 2.3.1).
  const words = [client.id, client.secret].map(word => encodeURIComponent(word)).join(':')
  return {
    url: config.token_url,
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(words).toString('base64')}`,
    },
    body: Buffer.from(form.toString()),
    timeoutMs: parseDuration(config.timeout),
    ...(tls !== undefined && { tls }),
    ...(proxyUrl !== undefined && { proxyUrl }),
  }
}

type TokenAnswer = {
  readonly access_token: string
  readonly token_type?: string
  readonly expires_in?: number | string
}

function tokenFrom({ status, body }: WholeResponse, url: string): TokenAnswer {
  let answer: { error?: unknown; error_description?: unknown } & Partial<TokenAnswer> = {}
  try {
    answer = (JSON.parse(body.toString()) ?? {}) as typeof answer
  } catch {
    // What is not JSON has no token; the status says the rest.
  }
  const { access_token, error, error_description } = answer
  if (status >= 200 && status < 300 && typeof access_token === 'string' && access_token !== '') {
    return answer as TokenAnswer
  }
  const words = [error, error_description].filter(word => typeof word === 'string').join(': ')
  throw new Error(`no token from ${url}: it answered ${status}${words === '' ? '' : ` (${words})`}`)
}
