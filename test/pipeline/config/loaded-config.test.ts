import assert from 'node:assert/strict'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { complaints, loadText, problemsOf, withExporter, withReceiver } from '../../support/load-text.ts'

const good = `
receivers:
  pull: { targets: [a], interval: 30s }
  pull/two:
processors:
  rewrite: { rules: [{ regex: "(a)", replacement: $1 }] }
exporters:
  push_http: { endpoint: https://example.com, queue: 1024, token: "\${env:TOKEN}" }
  serve:
extensions:
  status:
service:
  extensions: [status]
  storage: /var/lib/gpucol
  pipelines:
    metrics: { receivers: [pull, pull/two], processors: [rewrite], exporters: [push_http] }
    metrics/raw: { receivers: [pull], exporters: [serve] }
  telemetry:
    metrics: { address: none, push: { endpoint: http://127.0.0.1:4318/v1/metrics } }
    logs: { level: debug }
`

describe('loadConfig', () => {
  it('gives components with their defaults, pipelines and the service', async () => {
    const config = await loadText(good, { env: { TOKEN: '0123' } })
    assert.deepEqual([...config.receivers.keys()], ['pull', 'pull/two'])
    assert.deepEqual(config.receivers.get('pull')?.config, { targets: ['a'], interval: '30s', honor_labels: false })
    assert.deepEqual(config.receivers.get('pull/two')?.config, { targets: [], interval: '15s', honor_labels: false })
    assert.equal(config.receivers.get('pull/two')?.type, 'pull')
    assert.equal(config.receivers.get('pull/two')?.definition.summary, 'Pulls.')
    assert.deepEqual(config.processors.get('rewrite')?.config, {
      rules: [{ regex: '(a)', replacement: '$1', action: 'replace' }],
    })
    assert.deepEqual(
      [...config.pipelines.values()],
      [
        { id: 'metrics', receivers: ['pull', 'pull/two'], processors: ['rewrite'], exporters: ['push_http'] },
        { id: 'metrics/raw', receivers: ['pull'], processors: [], exporters: ['serve'] },
      ],
    )
    assert.deepEqual(config.service, {
      extensions: ['status'],
      storage: '/var/lib/gpucol',
      telemetry: {
        metrics: {
          address: 'none',
          push: { endpoint: 'http://127.0.0.1:4318/v1/metrics', interval: '60s', headers: {} },
        },
        logs: { level: 'debug', encoding: 'console' },
      },
    })
    assert.deepEqual(config.warnings, [])
  })

  it('takes the text of a variable where a text is wanted, and a number where bytes are', async () => {
    const config = await loadText(good, { env: { TOKEN: '0123' } })
    assert.deepEqual(config.exporters.get('push_http')?.config, {
      endpoint: 'https://example.com',
      queue: '1024',
      token: '0123',
      encoding: 'proto',
    })
  })

  it('has own metrics at 127.0.0.1:8888 and a console log where nothing is said', async () => {
    const { service } = await loadText(withReceiver('  pull:'))
    assert.deepEqual(service, {
      extensions: [],
      telemetry: { metrics: { address: '127.0.0.1:8888' }, logs: { level: 'info', encoding: 'console' } },
    })
  })

  it('freezes configs all the way down', async () => {
    const config = await loadText(good, { env: { TOKEN: 'x' } })
    const { rules } = config.processors.get('rewrite')!.config as { rules: object[] }
    assert.ok(Object.isFrozen(rules) && Object.isFrozen(rules[0]))
  })

  it('has equal fingerprints exactly where configs are equal', async () => {
    const fingerprint = async (body: string) => (await loadText(withReceiver(body))).receivers.get('pull')!.fingerprint
    const one = await fingerprint('  pull: { targets: [a], interval: 15s }')
    assert.equal(one, await fingerprint('  pull:\n    targets:\n      - "a"'))
    assert.notEqual(one, await fingerprint('  pull: { targets: [a], interval: 16s }'))
    assert.notEqual(one, await fingerprint('  pull: { targets: [[a]] }').catch(() => ''))
  })

  it('accepts older names of components with a warning, in definitions and in pipelines', async () => {
    const text = `receivers: { puller/a: }
exporters: { pushhttp: { endpoint: http://a } }
service: { pipelines: { metrics: { receivers: [pull/a], exporters: [pushhttp] } } }`
    const config = await loadText(text)
    assert.deepEqual([...config.receivers.keys()], ['pull/a'])
    assert.deepEqual(config.pipelines.get('metrics')?.exporters, ['push_http'])
    assert.deepEqual(await complaints(text), [
      '1:14: warning: `puller` is an older name of `pull`',
      '2:14: warning: `pushhttp` is an older name of `push_http`',
    ])
  })

  it('keeps keys such as __proto__ and constructor as what they are', async () => {
    const text = `receivers: { pull: }
processors: { rewrite: { by_name: { __proto__: a, constructor: b } } }
exporters: { serve: }
service: { pipelines: { metrics: { receivers: [pull], processors: [rewrite], exporters: [serve] } } }`
    const { by_name: names } = (await loadText(text)).processors.get('rewrite')!.config as { by_name: object }
    assert.deepEqual(Object.entries(names), [
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
    assert.equal(Object.getPrototypeOf(names), Object.prototype)
  })

  it('has problems with the whole file, the line and a caret', async () => {
    const [problem] = await problemsOf(withReceiver('  pull: { intervall: 15s }'))
    assert.deepEqual(problem, {
      file: 'config.yaml',
      line: 2,
      column: 11,
      message: 'unknown key `intervall` in `pull`',
      suggestion: 'interval',
      severity: 'error',
      excerpt: { line: '  pull: { intervall: 15s }', column: 11, length: 9 },
    })
  })
})

/** What is put under `receivers:` in line 2, and what is said about it. */
const receivers: [string, string, string[]][] = [
  ['an unknown key', '  pull: { intervall: 15s }', ['2:11: unknown key `intervall` in `pull` (interval?)']],
  [
    'an unknown key like no other',
    '  pull: { x: 1 }',
    ['2:11: unknown key `x` in `pull`; it takes targets, interval, timeout, limit, honor_labels, ratio'],
  ],
  [
    'keys that every object has',
    '  pull: { __proto__: 1, constructor: 2 }',
    [
      '2:11: unknown key `__proto__` in `pull`; it takes targets, interval, timeout, limit, honor_labels, ratio',
      '2:25: unknown key `constructor` in `pull`; it takes targets, interval, timeout, limit, honor_labels, ratio',
    ],
  ],
  ['a text for a number', '  pull: { limit: many }', ['2:18: `limit` must be a whole number, found "many"']],
  ['a fraction for a whole number', '  pull: { limit: 1.5 }', ['2:18: `limit` must be a whole number, found 1.5']],
  ['a number for a text', '  pull: { targets: [1] }', ['2:21: `targets[0]` must be a text, found 1; put it in quotes']],
  ['a number too small', '  pull: { limit: 0 }', ['2:18: `limit` must be at least 1, found 0']],
  ['a number too large', '  pull: { ratio: 2 }', ['2:18: `ratio` must be at most 1, found 2']],
  ['a number that is none', '  pull: { ratio: .nan }', ['2:18: `ratio` must be a number, found NaN']],
  ['yes for true', '  pull: { honor_labels: yes }', ['2:25: `honor_labels` must be true or false, found "yes"']],
  ['a text for a list', '  pull: { targets: a }', ['2:20: `targets` must be a list, found "a"']],
  ['a list for a map', '  pull: [1]', ['2:9: `pull` must be a map, found a list']],
  ['a text for a map', '  pull: x', ['2:9: `pull` must be a map, found "x"']],
  [
    'a duration without a unit',
    '  pull: { interval: 15 }',
    ['2:21: `interval` must be a duration such as 15s or 1h30m, found 15; add a unit: 15s'],
  ],
  [
    'a duration that is none',
    '  pull: { interval: soon }',
    ['2:21: `interval` must be a duration such as 15s or 1h30m, found "soon"'],
  ],
  ['an unknown type', '  pull:\n  pul/x:', ['3:3: unknown receiver `pul` (pull?)']],
  ['a type of another kind', '  pull:\n  status:', ['3:3: unknown receiver `status`; there is such an extension']],
  ['a type like no other', '  pull:\n  zzz:', ['3:3: unknown receiver `zzz`; there are pull, listen']],
  ['blanks in an id', '  pull:\n  "pull / x":', ['3:3: an id has no blanks (pull/x?)']],
  ['an id without a name', '  pull:\n  pull/:', ['3:3: id `pull/` has no name after the slash']],
  ['an id without a type', '  pull:\n  /x:', ['3:3: id `/x` has no type before the slash']],
  [
    'an older and the newer name for one',
    '  pull:\n  puller:',
    ['3:3: warning: `puller` is an older name of `pull`', '3:3: receiver `pull` is defined twice'],
  ],
  [
    'several mistakes at once',
    '  pull: { limit: x, ratio: y, z: 1 }',
    [
      '2:18: `limit` must be a whole number, found "x"',
      '2:28: `ratio` must be a number, found "y"',
      '2:31: unknown key `z` in `pull`; it takes targets, interval, timeout, limit, honor_labels, ratio',
    ],
  ],
  [
    'only the variable, where its value is not known',
    '  pull: { limit: "${env:NOPE}" }',
    ['2:19: environment variable `NOPE` is not set; give it a default: `${env:NOPE:-default}`'],
  ],
  ['nothing where 0 is a duration', '  pull: { interval: 0 }', []],
  ['nothing where a key has no value', '  pull: { limit: , targets: }', []],
]

const exporters: [string, string, string[]][] = [
  [
    'a missing key, at the map that lacks it',
    '  push_http: { queue: 1 }',
    ['2:3: `endpoint` is missing in `push_http`'],
  ],
  ['a missing key, where the map is empty', '  push_http:', ['2:3: `endpoint` is missing in `push_http`']],
  ['a key that needs a value', '  push_http: { endpoint: }', ['2:16: `endpoint` has no value']],
  [
    'a choice that is none',
    '  push_http: { endpoint: http://a, encoding: jsn }',
    ['2:46: `encoding` must be proto or json, found "jsn" (json?)'],
  ],
  [
    'a URL that is none',
    '  push_http: { endpoint: example.com }',
    ['2:26: `endpoint` must be a URL that begins with http:// or https://, found "example.com"'],
  ],
  [
    'a size that is none',
    '  push_http: { endpoint: http://a, queue: 64M }',
    ['2:43: `queue` must be a size such as 64MiB, or a number of bytes, found "64M"; write 64MiB'],
  ],
  [
    'a key that needs another',
    '  push_http: { endpoint: http://a, tls: { key_file: x } }',
    ['2:43: `key_file` needs `cert_file` beside it'],
  ],
  [
    'an unknown key deep down',
    '  push_http: { endpoint: http://a, tls: { insecure: true } }',
    ['2:43: unknown key `insecure` in `tls` (insecure_skip_verify?)'],
  ],
  ['an entry twice', '  push_http: { endpoint: http://a, names: [b, c, b] }', ['2:50: `names` has "b" twice']],
  ['an empty entry', '  push_http: { endpoint: http://a, names: [""] }', ['2:44: `names[0]` must not be empty']],
  [
    'what fits no alternative',
    '  push_http: { endpoint: http://a, source: 5 }',
    ['2:44: `source` must be a text or a list, found 5'],
  ],
  [
    'what is wrong in the alternative that was meant',
    '  push_http: { endpoint: http://a, source: [5] }',
    ['2:45: `source[0]` must be a text, found 5; put it in quotes'],
  ],
]

const whole: [string, string, string[]][] = [
  ['a config that is a list', '- a', ['1:1: a config is a map with keys such as `receivers`; this is a list']],
  [
    'a config that is a text',
    'hello',
    ['1:1: a config is a map with keys such as `receivers`; this is a single value'],
  ],
  ['an empty config', '', ['1:1: `service` is missing: it says which pipelines run']],
  [
    'a misspelt section',
    'reciever: {}\nservice:',
    ['1:1: unknown key `reciever` (receivers?)', '2:1: `pipelines` is missing in `service`'],
  ],
  [
    'an unknown section',
    'connectors: {}\nservice: {pipelines: {}}',
    [
      '1:1: unknown key `connectors`; a config has receivers, processors, exporters, extensions, service',
      '2:22: `service.pipelines` has no pipelines',
    ],
  ],
  [
    'a section that is a list',
    'receivers: [pull]\nservice: {pipelines: {metrics: {receivers: [pull], exporters: []}}}',
    ['1:12: `receivers` must be a map of ids and their configs', '2:63: pipeline `metrics` has no exporters'],
  ],
  [
    'a section without a value',
    'receivers:\nprocessors:\nservice: {pipelines: {metrics: }}',
    ['3:23: pipeline `metrics` has no receivers', '3:23: pipeline `metrics` has no exporters'],
  ],
  [
    'a pipeline that is a list',
    'service: {pipelines: {metrics: [a]}}',
    ['1:32: `pipelines.metrics` must be a map, found a list'],
  ],
  [
    'references that are not defined',
    `receivers: { pull: }
processors: { rewrite: }
exporters: { serve: }
service:
  extensions: [status]
  pipelines:
    metrics: { receivers: [pul], processors: [rewrite/x], exporters: [serv, zzz] }`,
    [
      '1:14: warning: receiver `pull` is defined, but used in no pipeline',
      '2:15: warning: processor `rewrite` is defined, but used in no pipeline',
      '3:14: warning: exporter `serve` is defined, but used in no pipeline',
      '5:16: extension `status` is not defined in `extensions`',
      '7:28: receiver `pul` is not defined in `receivers` (pull?)',
      '7:47: processor `rewrite/x` is not defined in `processors` (rewrite?)',
      '7:71: exporter `serv` is not defined in `exporters` (serve?)',
      '7:77: exporter `zzz` is not defined in `exporters`',
    ],
  ],
  [
    'no second complaint about a component that could not be understood',
    `receivers: { pul: }
exporters: { serve: }
service: { pipelines: { metrics: { receivers: [pul], exporters: [serve] } } }`,
    ['1:14: unknown receiver `pul` (pull?)'],
  ],
  [
    'ids that stand twice',
    `receivers: { pull: }
processors: { rewrite: }
exporters: { serve: }
service: { pipelines: { metrics: { receivers: [pull, pull], processors: [rewrite, rewrite], exporters: [serve] } } }`,
    ['4:54: receiver `pull` stands twice in this list', '4:83: processor `rewrite` stands twice in this list'],
  ],
  [
    'blanks in references',
    `receivers: { pull: }
exporters: { serve: }
service: { pipelines: { metrics: { receivers: [" pull"], exporters: [serve] } } }`,
    ['1:14: warning: receiver `pull` is defined, but used in no pipeline', '3:48: an id has no blanks (pull?)'],
  ],
  [
    'signals other than metrics',
    `receivers: { pull: }
exporters: { serve: }
service: { pipelines: { logs/x: { receivers: [pull], exporters: [serve] }, metric: { receivers: [pull], exporters: [serve] } } }`,
    [
      '3:25: pipeline `logs/x`: gpucol has pipelines for metrics only, not for logs',
      '3:76: `metric` is no signal; a pipeline is called `metrics` or `metrics/name` (metrics?)',
    ],
  ],
  [
    'an extension that is not named',
    `receivers: { pull: }
exporters: { serve: }
extensions: { status: }
service: { pipelines: { metrics: { receivers: [pull], exporters: [serve] } } }`,
    ['3:15: warning: extension `status` is defined, but not named in `service.extensions`'],
  ],
  [
    'what a component finds wrong itself',
    `receivers: { pull: }
processors: { rewrite: { rules: [{ regex: a }, { regex: "(b" }] } }
exporters: { serve: }
service: { pipelines: { metrics: { receivers: [pull], processors: [rewrite], exporters: [serve] } } }`,
    ['2:57: regular expression "(b" lacks a )'],
  ],
  [
    'a list behind a variable that is not set, and nothing that follows from it',
    `receivers: { pull: }
exporters: { serve: }
service: { pipelines: { metrics: { receivers: "\${env:NOPE}", exporters: [serve] } } }`,
    [
      '1:14: warning: receiver `pull` is defined, but used in no pipeline',
      '3:48: environment variable `NOPE` is not set; give it a default: `${env:NOPE:-default}`',
    ],
  ],
  [
    'wrong settings of the service',
    `receivers: { pull: }
exporters: { serve: }
service:
  storage: 5
  telemetry: { metrics: { address: here }, logs: { level: INFO } }
  pipelines: { metrics: { receivers: [pull], exporters: [serve] } }`,
    [
      '4:12: `storage` must be a text, found 5; put it in quotes',
      '5:36: `telemetry.metrics.address` must be an address such as 127.0.0.1:8080, or none, found "here"',
      '5:59: `telemetry.logs.level` must be debug, info, warn or error, found "INFO" (info?)',
    ],
  ],
]

describe('what loadConfig finds', () => {
  for (const [name, body, expected] of receivers)
    it(`finds ${name}`, async () => assert.deepEqual(await complaints(withReceiver(body)), expected, body))
  for (const [name, body, expected] of exporters)
    it(`finds ${name}`, async () => assert.deepEqual(await complaints(withExporter(body)), expected, body))
  for (const [name, text, expected] of whole)
    it(`finds ${name}`, async () => assert.deepEqual(await complaints(text), expected))
})

describe('two listeners on one address', () => {
  const load = (body: string) =>
    complaints(`receivers: { listen: }
extensions: { status: }
${body}`)

  const cases: [string, string, string[]][] = [
    [
      'at the later one, by default',
      `exporters: { serve: { endpoint: "0.0.0.0:4318" } }
service: { extensions: [status], pipelines: { metrics: { receivers: [listen], exporters: [serve] } } }`,
      ['3:33: exporter `serve` cannot listen on 0.0.0.0:4318, taken by receiver `listen` (127.0.0.1:4318, line 1)'],
    ],
    [
      'with own metrics',
      `exporters: { serve: { endpoint: "localhost:8888" } }
service: { extensions: [status], pipelines: { metrics: { receivers: [listen], exporters: [serve] } } }`,
      [
        '3:33: exporter `serve` cannot listen on localhost:8888, taken by `service.telemetry.metrics.address` (127.0.0.1:8888 by default)',
      ],
    ],
    [
      'at own metrics, where they come later',
      `exporters: { serve: }
service:
  extensions: [status]
  pipelines: { metrics: { receivers: [listen], exporters: [serve] } }
  telemetry: { metrics: { address: ":9464" } }`,
      [
        '7:36: `service.telemetry.metrics.address` cannot listen on :9464, taken by exporter `serve` (127.0.0.1:9464, line 3)',
      ],
    ],
    [
      'with an extension that runs',
      `exporters: { serve: { endpoint: "127.0.0.1:13133" } }
service: { extensions: [status], pipelines: { metrics: { receivers: [listen], exporters: [serve] } } }`,
      [
        '3:33: exporter `serve` cannot listen on 127.0.0.1:13133, taken by extension `status` (127.0.0.1:13133, line 2)',
      ],
    ],
    [
      'not with an extension that does not run',
      `exporters: { serve: { endpoint: "127.0.0.1:13133" } }
service: { pipelines: { metrics: { receivers: [listen], exporters: [serve] } } }`,
      ['2:15: warning: extension `status` is defined, but not named in `service.extensions`'],
    ],
    [
      'not on port 0, nor on other hosts',
      `exporters: { serve: { endpoint: "127.0.0.1:0" }, serve/b: { endpoint: "127.0.0.1:0" }, serve/c: { endpoint: "10.0.0.1:4318" } }
service: { extensions: [status], pipelines: { metrics: { receivers: [listen], exporters: [serve, serve/b, serve/c] } } }`,
      [],
    ],
  ]
  for (const [name, body, expected] of cases)
    it(`are found ${name}`, async () => assert.deepEqual(await load(body), expected))
})

describe('places after merging', () => {
  it('are those of the file that says it', async () => {
    const problems = await problemsOf(withReceiver('  pull: { limit: 1 }'), {
      files: ['config.yaml', 'over.yaml'],
      texts: { 'over.yaml': 'receivers:\n  pull:\n    limit: x\nexporters: { push_http: }\n' },
    })
    assert.deepEqual(
      problems.map(({ file, line, column }) => `${file}:${line}:${column}`),
      ['over.yaml:3:12', 'over.yaml:4:14', 'over.yaml:4:14'],
    )
  })

  it('are those of the file that was taken in', async () => {
    const [problem] = await problemsOf(withReceiver('  pull: ${file:sub/pull.yaml}'), {
      texts: { 'sub/pull.yaml': '# a comment\nlimit: x\n' },
    })
    assert.equal(`${problem?.file}:${problem?.line}:${problem?.column}`, 'sub/pull.yaml:2:8')
  })

  it('are those of the reference for what came out of a variable', async () => {
    const found = await complaints(withReceiver('  pull: { limit: "${env:N}" }'), { env: { N: 'x' } })
    assert.deepEqual(found, ['2:19: `limit` must be a whole number, found "x"'])
  })

  it('name the option for what --set said', async () => {
    const problems = await problemsOf(withReceiver('  pull:'), { set: ['receivers.pull.limit=x'] })
    assert.deepEqual(problems, [
      {
        file: '--set receivers.pull.limit',
        message: '`limit` must be a whole number, found "x"',
        severity: 'error',
        excerpt: { line: '--set receivers.pull.limit=x', column: 28, length: 1 },
      },
    ])
  })

  const options: [string, string][] = [
    ['receivers.pull.limit', '--set receivers.pull.limit: a value is missing; write key=value'],
    ['receivers..limit=1', '--set receivers..limit: a part of the key is empty'],
    ['=1', '--set : a part of the key is empty'],
    ['receivers.pull.targets=[a', '--set receivers.pull.targets: a `{` or `[` before this is not closed'],
    ['receivers.pull.limits=1', '--set receivers.pull.limits: unknown key `limits` in `pull` (limit?)'],
  ]
  for (const [option, expected] of options)
    it(`are told for --set ${option}`, async () => {
      assert.deepEqual(await complaints(withReceiver('  pull:'), { set: [option] }), [expected])
    })
})

describe('files that cannot be read', () => {
  it('are reported, each, together with what is wrong with the others', async () => {
    const found = await complaints('a: [', {
      files: ['nope.yaml', 'config.yaml', 'big.yaml', 'binary.yaml'],
      texts: { 'big.yaml': Buffer.alloc(50_000_000), 'binary.yaml': Buffer.from([0xff, 0xfe, 0]) },
    })
    assert.deepEqual(found, [
      'nope.yaml: cannot be read: no such file',
      '1:4: a `{` or `[` before this is not closed',
      'big.yaml: the file is larger than 4 MiB',
      'binary.yaml: the file is not text in UTF-8',
    ])
  })
})

describe('whatever a config says', () => {
  const words =
    'receivers pull pull/a rewrite push_http serve status pipelines metrics extensions telemetry logs endpoint headers token tls rules regex interval limit targets ' +
    '__proto__ constructor toString << source exporters processors service'
  const keys = fc.constantFrom('', ...words.split(' '))
  const leaf = fc.oneof(
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      NaN,
      '',
      'pull',
      '15s',
      '${env:A}',
      '${B}',
      '${file:c.yaml}',
      '$${x}',
      '${1}',
    ),
    fc.string(),
  )
  const { node } = fc.letrec(tie => ({
    node: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(keys, tie('node'), { maxKeys: 5 }),
    ),
  }))

  it('either loads, or has problems with a place', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(keys, node), async value => {
        const env = { A: '{a: [1, "${B}"]}', B: 'pull' }
        for (const { line, column } of await problemsOf(stringify(value), { env })) assert.ok(line! > 0 && column! > 0)
      }),
      { numRuns: 300 },
    )
  })
})
