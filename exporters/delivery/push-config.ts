/** The keys that all pushing exporters have, and what is made of them. */
import type { ConfigOf, Problem } from '../../pipeline/component.ts'
import {
  authorization,
  basicAuth,
  duration,
  headers,
  parseDuration,
  parseSize,
  secret,
  size,
  tls,
  url,
} from '../../pipeline/config/fields.ts'
import { HEADER_NAME, HEADER_VALUE } from '../../pipeline/http/header-syntax.ts'

const retryOnFailure = {
  type: 'object',
  properties: {
    enabled: {
      type: 'boolean',
      default: true,
      description: 'Send again what was not taken. Otherwise it is dropped and counted.',
    },
    initial_interval: duration('Time before the first repetition.', '5s'),
    max_interval: duration('Longest time between two repetitions.', '30s'),
    multiplier: {
      type: 'number',
      minimum: 1,
      default: 1.5,
      description: 'How much longer each time is than the one before.',
    },
    randomization_factor: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0.5,
      description: 'By which part of it each time is shorter or longer at random, so that not all come at once.',
    },
    max_elapsed_time: duration(
      'A request that was tried for so long is given up and counted. 0 is never: the limits of the queue decide.',
      '0s',
    ),
  },
  default: {},
  additionalProperties: false,
  description:
    'What happens to requests that the destination does not take now. What it asks for by Retry-After is respected.',
} as const

const sendingQueue = {
  type: 'object',
  properties: {
    storage: {
      type: 'string',
      minLength: 1,
      description:
        'Directory to keep the queue in, so that it survives a restart. That of `service.storage` unless set; without both it is in memory.',
    },
    max_bytes: size(
      'How much waits at most, as it is sent. What is oldest is dropped and counted. 1GiB on disk and 128MiB in memory unless set.',
    ),
    max_requests: {
      type: 'integer',
      minimum: 1,
      default: 200_000,
      description: 'How many requests wait at most. The oldest is dropped and counted.',
    },
    num_consumers: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 10,
      description: 'How many requests are under way at most.',
    },
    batch: {
      type: 'object',
      properties: {
        flush_timeout: duration(
          'How long points are collected before a request that is not full is sent. With a queue on disk at most 500ms.',
          '200ms',
        ),
      },
      default: {},
      additionalProperties: false,
      description: 'How requests are put together.',
      unsupported: {
        min_size: 'requests are sent by time and by the limits of the exporter',
        max_size: 'the exporter has the limits of a request',
        sizer: 'the exporter has the limits of a request',
        partition: 'requests are not split by metadata',
      },
    },
  },
  default: {},
  additionalProperties: false,
  unsupported: {
    enabled: 'there is always a queue: max_bytes says how large it is',
    queue_size: 'the queue has max_bytes and max_requests',
    sizer: 'the queue has max_bytes and max_requests',
    block_on_overflow: 'a full queue never holds up the pipeline: it drops what is oldest',
    wait_for_result: 'the pipeline does not wait for a destination',
  },
  description: 'What waits to be sent.',
} as const

const oauth2 = {
  type: 'object',
  properties: {
    client_id: { type: 'string', description: 'Who asks for a token.' },
    client_id_file: { type: 'string', description: 'File that holds the client id; read again for each token.' },
    client_secret: secret('Secret of the client.'),
    client_secret_file: { type: 'string', description: 'File that holds the secret; read again for each token.' },
    token_url: url('Where tokens come from.'),
    scopes: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'What the token shall be good for.',
    },
    endpoint_params: {
      type: 'object',
      additionalProperties: { type: 'string' },
      default: {},
      description: 'Further parameters of the request for a token, such as audience.',
    },
    expiry_buffer: duration('How long before its end a token is replaced.', '5m'),
    timeout: duration('How long the request for a token may take.', '10s'),
    tls,
  },
  required: ['token_url'],
  additionalProperties: false,
  description: 'OAuth 2.0 client credentials: a token is fetched, kept until it ends, and sent as bearer token.',
} as const

export const pushProperties = {
  timeout: duration('How long a request may take, its answer included.', '30s'),
  retry_on_failure: retryOnFailure,
  sending_queue: sendingQueue,
  headers,
  headers_files: {
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1 },
    default: {},
    description: 'HTTP headers whose values stand in files, by name; the files are read again when they change.',
  },
  basic_auth: basicAuth,
  authorization,
  oauth2,
  tls,
  proxy_url: url(
    'Proxy to go through. Unless set, the one that HTTPS_PROXY or HTTP_PROXY names in the environment, but for what NO_PROXY excepts.',
  ),
} as const

const schema = { type: 'object', properties: pushProperties, additionalProperties: false } as const
export type PushConfig = ConfigOf<typeof schema>
export type OAuth2Config = NonNullable<PushConfig['oauth2']>

/** What the schema cannot say; for the `check` of exporters. */
export function checkPushConfig(config: PushConfig): Problem[] {
  return [...checkTimes(config), ...checkQueue(config), ...checkCredentials(config)]
}

function checkTimes({ timeout, retry_on_failure: retry }: PushConfig): Problem[] {
  const problems: Problem[] = []
  if (parseDuration(timeout) <= 0) problems.push({ path: ['timeout'], message: 'the timeout must be above 0' })
  if (parseDuration(retry.initial_interval) <= 0) {
    problems.push({ path: ['retry_on_failure', 'initial_interval'], message: 'the interval must be above 0' })
  }
  if (parseDuration(retry.max_interval) < parseDuration(retry.initial_interval)) {
    const message = `the max_interval "${retry.max_interval}" is shorter than the initial_interval "${retry.initial_interval}"`
    problems.push({ path: ['retry_on_failure', 'max_interval'], message })
  }
  return problems
}

function checkQueue({ sending_queue: { max_bytes } }: PushConfig): Problem[] {
  if (max_bytes === undefined || parseSize(max_bytes) > 0) return []
  return [{ path: ['sending_queue', 'max_bytes'], message: 'must be above 0, or nothing could ever be sent' }]
}

function checkCredentials(config: PushConfig): Problem[] {
  const problems: Problem[] = []
  const ways = (['basic_auth', 'authorization', 'oauth2'] as const).filter(key => config[key] !== undefined)
  for (const way of ways.slice(1)) {
    problems.push({ path: [way], message: `there is ${ways[0]} already: a request has one of the two` })
  }
  const { oauth2, headers = {}, headers_files } = config
  if (oauth2 !== undefined) {
    for (const key of ['client_id', 'client_secret'] as const) {
      if ((oauth2[key] === undefined) === (oauth2[`${key}_file`] === undefined)) {
        const given = oauth2[key] === undefined ? key : `${key}_file`
        problems.push({ path: ['oauth2', given], message: `oauth2 needs ${key} or ${key}_file, one of the two` })
      }
    }
  }
  for (const [key, names] of Object.entries({ headers, headers_files })) {
    for (const name of Object.keys(names).filter(one => !HEADER_NAME.test(one))) {
      problems.push({ path: [key, name], isOfKey: true, message: `"${name}" cannot be the name of a header` })
    }
  }
  for (const [name] of Object.entries(headers).filter(([, value]) => !HEADER_VALUE.test(value))) {
    problems.push({ path: ['headers', name], message: `what is sent as ${name} must be one line of plain text` })
  }
  const known = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  for (const name of Object.keys(headers_files)) {
    if (known.has(name.toLowerCase())) {
      problems.push({ path: ['headers_files', name], isOfKey: true, message: `"${name}" is in headers already` })
    }
  }
  return problems
}
