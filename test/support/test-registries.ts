/** A few small components whose configs have one of everything, for tests of config and commands. */
import {
  defineExporter,
  defineExtension,
  defineProcessor,
  defineReceiver,
  type ConfigSchema,
  type Registries,
} from '../../pipeline/component.ts'
import { duration, endpoint, headers, secret, size, tls, url } from '../../pipeline/config/fields.ts'

const pullConfig = {
  type: 'object',
  properties: {
    targets: { type: 'array', items: { type: 'string' }, default: [], description: 'What to pull from.' },
    interval: duration('Time between two pulls.', '15s'),
    timeout: duration('Time for one pull.'),
    limit: { type: 'integer', minimum: 1, description: 'Most samples of one pull.' },
    honor_labels: { type: 'boolean', default: false, description: 'Whether labels of the target win.' },
    ratio: { type: 'number', minimum: 0, maximum: 1, description: 'A share.' },
  },
} as const satisfies ConfigSchema

const pull = defineReceiver({
  type: 'pull',
  aliases: ['puller'],
  summary: 'Pulls.',
  config: pullConfig,
  example: { targets: ['http://127.0.0.1:9400/metrics'] },
  create: () => ({}),
})

const listenConfig = {
  type: 'object',
  properties: { endpoint: endpoint('Address to listen on.', '127.0.0.1:4318') },
} as const satisfies ConfigSchema

const listen = defineReceiver({
  type: 'listen',
  summary: 'Is pushed to.',
  config: listenConfig,
  example: {},
  listens: config => [{ address: config.endpoint, path: ['endpoint'] }],
  create: () => ({}),
})

const rewriteConfig = {
  type: 'object',
  properties: {
    rules: {
      type: 'array',
      description: 'What to rewrite.',
      default: [],
      items: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['replace', 'keep', 'drop'], default: 'replace', description: 'What to do.' },
          regex: { type: 'string', description: 'What to look for.' },
          replacement: { type: 'string', description: 'What to put in its place.' },
        },
        required: ['regex'],
      },
    },
    by_name: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'New names by old ones.',
    },
  },
} as const satisfies ConfigSchema

const rewrite = defineProcessor({
  type: 'rewrite',
  summary: 'Rewrites.',
  config: rewriteConfig,
  example: { rules: [{ regex: 'a' }] },
  check(config) {
    return config.rules.flatMap(({ regex }, index) => {
      if (!regex.includes('(') || regex.includes(')')) return []
      return [{ path: ['rules', index, 'regex'], message: `regular expression "${regex}" lacks a )` }]
    })
  },
  create: () => ({ consume() {} }),
})

const pushConfig = {
  type: 'object',
  properties: {
    endpoint: url('Where to push to.'),
    token: secret('Who we are.'),
    headers,
    tls,
    queue: size('Most bytes to wait.', '64MiB'),
    encoding: { type: 'string', enum: ['proto', 'json'], default: 'proto', description: 'How to say it.' },
    names: { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true, description: 'Some names.' },
    source: {
      description: 'A name, or a list of names.',
      anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }],
    },
  },
  required: ['endpoint'],
} as const satisfies ConfigSchema

const push = defineExporter({
  type: 'push_http',
  aliases: ['pushhttp'],
  summary: 'Pushes.',
  config: pushConfig,
  example: { endpoint: 'https://example.com' },
  create: () => ({ consume() {} }),
})

const serveConfig = {
  type: 'object',
  properties: { endpoint: endpoint('Address to serve at.', '127.0.0.1:9464') },
} as const satisfies ConfigSchema

const serve = defineExporter({
  type: 'serve',
  summary: 'Serves.',
  config: serveConfig,
  example: { endpoint: '127.0.0.1:9464' },
  listens: config => [{ address: config.endpoint, path: ['endpoint'] }],
  create: () => ({ consume() {} }),
})

const statusConfig = {
  type: 'object',
  properties: { endpoint: endpoint('Address to tell it at.', '127.0.0.1:13133') },
} as const satisfies ConfigSchema

const status = defineExtension({
  type: 'status',
  summary: 'Tells how it is.',
  config: statusConfig,
  example: {},
  listens: config => [{ address: config.endpoint, path: ['endpoint'] }],
  create: () => ({}),
})

export const testRegistries: Registries = {
  receivers: [pull, listen],
  processors: [rewrite],
  exporters: [push, serve],
  extensions: [status],
}
