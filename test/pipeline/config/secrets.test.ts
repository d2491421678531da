import assert from 'node:assert/strict'
import { ConfigError, formatProblems } from '../../../pipeline/config/config-error.ts'
import { printConfig } from '../../../pipeline/config/print-config.ts'
import { filesFromTexts, problemsOf, withExporter } from '../../support/load-text.ts'
import { testRegistries } from '../../support/test-registries.ts'

const env = { KEY: 'hunter2-from-env' }
const texts = { 'token.txt': 'hunter2-from-file\n', 'push.yaml': 'endpoint: 5\ntoken: hunter2 # in the file\n' }

/** Configs in which a secret (it begins with `hunter2`) stands near, or in, a mistake. */
const mistakes: [string, string][] = [
  ['a mistake in the line of a token', '  push_http: { endpoint: nowhere, token: hunter2 }'],
  ['a mistake in the line of a header', '  push_http: { endpoint: nowhere, headers: { api-key: hunter2 } }'],
  ['a token of the wrong type', '  push_http: { endpoint: http://a, token: [hunter2] }'],
  ['headers of the wrong type', '  push_http: { endpoint: http://a, headers: hunter2 }'],
  ['a header that is a map', '  push_http: { endpoint: http://a, headers: { a: { b: hunter2 } } }'],
  ['a misspelt token', '  push_http: { endpoint: http://a, tokn: hunter2 }'],
  ['misspelt headers', '  push_http: { endpoint: http://a, heders: { api-key: hunter2 } }'],
  ['a secret key that nobody knows', '  push_http: { endpoint: http://a, password: hunter2 }'],
  ['a secret of a component that nobody knows', '  push_htp: { token: hunter2 }'],
  ['a token from a variable', '  push_http: { endpoint: nowhere, token: "${env:KEY}" }'],
  ['a token from a variable in a text', '  push_http: { endpoint: nowhere, token: "hunter2 ${env:KEY}" }'],
  ['a token that is a default', '  push_http: { endpoint: nowhere, token: "${env:NOPE:-hunter2}" }'],
  ['a token from a file', '  push_http: { endpoint: nowhere, token: "${file:token.txt}" }'],
  ['a token in an included file', '  push_http: ${file:push.yaml}'],
  ['the value of a token elsewhere', '  push_http: { endpoint: hunter2, token: hunter2 }'],
  ['a password in a URL', '  push_http: { endpoint: "http://user:hunter2@host:x" }'],
  ['a token twice', '  push_http: { endpoint: http://a, token: hunter2, token: hunter2 }'],
  ['a line that is no YAML', '  push_http: { endpoint: http://a, token: hunter2 ]'],
  ['headers that are no YAML', '  push_http:\n    headers:\n      api-key: hunter2: x'],
  ['an unclosed token', '  push_http:\n    token: "hunter2'],
  [
    'a header over several lines that is no YAML',
    '  push_http:\n    headers:\n      a: |\n       hunter2\n      b: @hunter2',
  ],
]

describe('secrets', () => {
  for (const [name, body] of mistakes)
    it(`are not shown with ${name}`, async () => {
      const problems = await problemsOf(withExporter(body), { env, texts })
      assert.ok(problems.some(({ severity }) => severity === 'error'))
      assert.doesNotMatch(formatProblems(problems), /hunter2/)
    })

  const options: [string, string][] = [
    ['a token that --set gives', 'exporters.push_http.token=[hunter2]'],
    ['a header that --set gives and that is no YAML', 'exporters.push_http.headers.x=[hunter2'],
    ['a misspelt header that --set gives', 'exporters.push_http.header={a: hunter2}'],
  ]
  for (const [name, option] of options)
    it(`are not shown with ${name}`, async () => {
      const problems = await problemsOf(withExporter('  push_http: { endpoint: http://a }'), { set: [option] })
      assert.ok(problems.some(({ severity }) => severity === 'error'))
      assert.doesNotMatch(formatProblems(problems), /hunter2/)
    })

  it('leave the rest of the line and the caret where they belong', async () => {
    const [problem] = await problemsOf(withExporter('  push_http: { token: abcdefgh, endpoint: nowhere }'))
    assert.deepEqual(problem?.excerpt, {
      line: '  push_http: { token: [redacted], endpoint: nowhere }',
      column: 45,
      length: 7,
    })
    assert.equal(problem?.column, 43)
  })

  it('leave a reference to a secret as it is', async () => {
    const [problem] = await problemsOf(withExporter('  push_http: { endpoint: x, token: "${env:KEY}" }'), { env })
    assert.equal(problem?.excerpt?.line, '  push_http: { endpoint: x, token: "${env:KEY}" }')
  })

  it('that are short leave messages readable', async () => {
    const [problem] = await problemsOf(withExporter('  push_http: { endpoint: x, token: a }'))
    assert.match(problem!.message, /^`endpoint` must be a URL/)
  })
})

describe('printConfig', () => {
  function print(text: string, options: { withDefaults?: boolean; set?: string[] } = {}): string {
    const readFile = filesFromTexts({ ...texts, 'config.yaml': text })
    return printConfig({
      files: ['config.yaml'],
      set: [],
      registries: testRegistries,
      env,
      readFile,
      withDefaults: false,
      ...options,
    })
  }

  const cases: [string, string, string][] = [
    [
      'secrets masked',
      'exporters:\n  push_http:\n    token: hunter2\n    headers:\n      a: hunter2\n      b: ""\n',
      'exporters:\n  push_http:\n    token: "[redacted]"\n    headers:\n      a: "[redacted]"\n      b: ""\n',
    ],
    [
      'secrets masked that came from variables and files',
      'exporters:\n  push_http/a:\n    token: ${KEY}\n    headers:\n      a: ${file:token.txt}\n',
      'exporters:\n  push_http/a:\n    token: "[redacted]"\n    headers:\n      a: "[redacted]"\n',
    ],
    [
      'what looks secret masked where nobody knows it',
      'exporters:\n  other:\n    api_key: x\n    token_file: /x\n    pass: y\n',
      'exporters:\n  other:\n    api_key: "[redacted]"\n    token_file: /x\n    pass: y\n',
    ],
    ['passwords in URLs masked', 'a: https://me:hunter2@host/\n', 'a: https://me:[redacted]@host/\n'],
    [
      'secrets masked in older names',
      'exporters: {pushhttp: {token: x}}\n',
      'exporters:\n  pushhttp:\n    token: "[redacted]"\n',
    ],
    ['references expanded', 'a: ${env:KEY}\nb: $$1 ${1}\n', 'a: hunter2-from-env\nb: $1 ${1}\n'],
    [
      'texts that look like numbers in quotes',
      'a: "0123"\nb: "1"\nc: "0644"\nd: 0644\n',
      'a: "0123"\nb: "1"\nc: "0644"\nd: 420\n',
    ],
    ['keys without a value as they are', 'receivers:\n  pull:\n', 'receivers:\n  pull: null\n'],
    [
      'mistakes like everything else',
      'receivers: {pul: {x: 1}}\nfoo: [1]\n',
      'receivers:\n  pul:\n    x: 1\nfoo:\n  - 1\n',
    ],
    ['no defaults', 'receivers: {pull: {}}\n', 'receivers:\n  pull: {}\n'],
    ['long lines whole', `a: ${'x '.repeat(100)}y\n`, `a: ${'x '.repeat(100)}y\n`],
    ['aliases resolved', 'a: &x [1]\nb: *x\n', 'a:\n  - 1\nb:\n  - 1\n'],
    ['keys that every object has', '__proto__: 1\n', '__proto__: 1\n'],
    ['an empty config', '', '{}\n'],
  ]
  for (const [name, text, expected] of cases)
    it(`prints ${name}`, () => {
      assert.equal(print(text), expected)
    })

  it('prints what --set said', () => {
    assert.equal(print('a: {b: 1}', { set: ['a.b=2'] }), 'a:\n  b: 2\n')
  })

  it('adds defaults when asked, secrets still masked, mistakes as they are', () => {
    const text =
      'receivers: {pull: {limit: x}, nope: {a: 1}}\nexporters: {push_http: {endpoint: http://a, token: hunter2}}\n'
    assert.equal(
      print(text, { withDefaults: true }),
      `receivers:
  pull:
    limit: x
    targets: []
    interval: 15s
    honor_labels: false
  nope:
    a: 1
exporters:
  push_http:
    endpoint: http://a
    token: "[redacted]"
    queue: 64MiB
    encoding: proto
service:
  extensions: []
  telemetry:
    metrics:
      address: 127.0.0.1:8888
    logs:
      level: info
      encoding: console
`,
    )
  })

  it('refuses what cannot be merged or expanded', () => {
    for (const text of ['a: [', '- a', 'a: ${env:NOPE}', 'a: 1\na: 2']) assert.throws(() => print(text), ConfigError)
  })
})
