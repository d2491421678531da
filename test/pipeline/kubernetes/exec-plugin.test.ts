import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createKubernetesCredentials } from '../../../pipeline/kubernetes/credentials.ts'
import { machine } from '../../../pipeline/kubernetes/credential-system.ts'
import { fakeSystem } from './fake-system.ts'

const V1 = 'client.authentication.k8s.io/v1'
const V1BETA1 = 'client.authentication.k8s.io/v1beta1'

function kubeconfig(exec: string, cluster = ''): string {
  return `
clusters: [{name: c, cluster: {server: "https://c.example", tls-server-name: c.internal${cluster}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
users:
- name: u
  user:
    exec:
${exec
  .split('\n')
  .map(line => `      ${line}`)
  .join('\n')}
`
}

const PLUGIN = `apiVersion: ${V1}\ncommand: get-token\nargs: [--cluster, c]\ninteractiveMode: IfAvailable`

function setUp(exec = PLUGIN, cluster?: string) {
  const clock = createVirtualClock(Date.parse('2024-05-01T00:00:00Z'))
  const system = fakeSystem({ '/home/config': kubeconfig(exec, cluster) }, { PATH: '/bin' })
  const credentials = createKubernetesCredentials({ kubeconfig: '/home/config', clock, system })
  function prints(status: unknown, apiVersion = V1): void {
    const output = JSON.stringify({ kind: 'ExecCredential', apiVersion, status })
    system.answer = async () => ({ code: 0, output, errors: '' })
  }
  return { clock, system, credentials, prints }
}

describe('an exec plugin', () => {
  it('makes the token', async () => {
    const { credentials, system, prints } = setUp()
    prints({ token: 'made' })
    const access = await credentials.access()
    assert.deepEqual(access.headers, { authorization: 'Bearer made' })
    const [{ command, env }] = system.runs as [(typeof system.runs)[0]]
    assert.equal(command, 'get-token --cluster c')
    assert.equal(env['PATH'], '/bin')
    assert.deepEqual(JSON.parse(env['KUBERNETES_EXEC_INFO']!), {
      kind: 'ExecCredential',
      apiVersion: V1,
      spec: { interactive: false },
    })
  })

  it('makes a certificate', async () => {
    const { credentials, prints } = setUp()
    prints({ clientCertificateData: 'CERT', clientKeyData: 'KEY' })
    const { tls, headers } = await credentials.access()
    assert.deepEqual([tls?.cert, tls?.key, headers], ['CERT', 'KEY', {}])
  })

  it('may be of version v1beta1', async () => {
    const { credentials, system, prints } = setUp(`apiVersion: ${V1BETA1}\ncommand: get-token`)
    prints({ token: 'made' }, V1BETA1)
    assert.deepEqual((await credentials.access()).headers, { authorization: 'Bearer made' })
    assert.match(system.runs[0]!.env['KUBERNETES_EXEC_INFO']!, /v1beta1/)
  })

  it('gets its variables, and is told about the cluster if it wants to know', async () => {
    const exec = `${PLUGIN}\nprovideClusterInfo: true\nenv: [{name: PROFILE, value: test}]`
    const extension =
      ', certificate-authority-data: UEVN, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]'
    const { credentials, system, prints } = setUp(exec, extension)
    prints({ token: 'made' })
    await credentials.access()
    const { env } = system.runs[0]!
    assert.equal(env['PROFILE'], 'test')
    assert.deepEqual((JSON.parse(env['KUBERNETES_EXEC_INFO']!) as { spec: unknown }).spec, {
      cluster: {
        server: 'https://c.example',
        'tls-server-name': 'c.internal',
        'certificate-authority-data': 'UEVN',
        config: { audience: 'a' },
      },
      interactive: false,
    })
  })

  it('is run again when its credential is about to expire, whatever happens to the wall clock', async () => {
    const { credentials, system, prints, clock } = setUp()
    prints({ token: 'first', expirationTimestamp: '2024-05-01T00:15:00Z' })
    await credentials.access()
    clock.step(86_400_000)
    await clock.advance(14 * 60_000)
    prints({ token: 'second', expirationTimestamp: '2024-05-02T01:00:00Z' })
    assert.deepEqual((await credentials.access()).headers, { authorization: 'Bearer first' })
    await clock.advance(31_000)
    assert.deepEqual((await credentials.access()).headers, { authorization: 'Bearer second' })
    assert.equal(system.runs.length, 2)
  })

  it('is run once for all who ask, and again when its credential is refused', async () => {
    const { credentials, system, prints } = setUp()
    prints({ token: 'first' })
    const [first] = await Promise.all([credentials.access(), credentials.access(), credentials.access()])
    assert.equal(system.runs.length, 1)
    prints({ token: 'second' })
    credentials.refused(first)
    // Whoever had the same credential refused comes too late.
    const second = await credentials.access()
    credentials.refused(first)
    assert.equal(await credentials.access(), second)
    assert.deepEqual(second.headers, { authorization: 'Bearer second' })
    assert.equal(system.runs.length, 2)
  })

  it('is found beside the kubeconfig if its command is a path', async () => {
    const { credentials, system, prints } = setUp(`apiVersion: ${V1}\ncommand: ./bin/get-token\ninteractiveMode: Never`)
    prints({ token: 'made' })
    await credentials.access()
    assert.equal(system.runs[0]!.command, '/home/bin/get-token')
  })

  const TOKEN = 'eyJhbGciOiJSUzI1NiIsImtpZCI6Ijc5Iwr0xY2.eyJpc3Mi'
  for (const [what, output, message] of [
    ['text', 'login first', 'what "get-token" printed is no credential: it is not JSON'],
    ['another kind', '{"kind":"Pod"}', 'what "get-token" printed is no credential: its kind is not ExecCredential'],
    [
      'another version',
      `{"kind":"ExecCredential","apiVersion":"${V1BETA1}","status":{"token":"${TOKEN}"}}`,
      `what "get-token" printed is no credential: its apiVersion is not ${V1}`,
    ],
    [
      'nothing of use',
      `{"kind":"ExecCredential","apiVersion":"${V1}","status":{}}`,
      'what "get-token" printed is no credential: it has neither token nor clientCertificateData',
    ],
    [
      'half a certificate',
      `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"clientCertificateData":"x"}}`,
      'what "get-token" printed is no credential: of clientCertificateData and clientKeyData it has only one',
    ],
    [
      'a token that is no text',
      `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"token":5}}`,
      'what "get-token" printed is no credential: its token is no text',
    ],
    [
      'a time that is none',
      `{"kind":"ExecCredential","apiVersion":"${V1}","status":{"token":"${TOKEN}","expirationTimestamp":"soon"}}`,
      'what "get-token" printed is no credential: its expirationTimestamp is no time',
    ],
  ] as const) {
    it(`that prints ${what} is reported without what it printed`, async () => {
      const { credentials, system } = setUp()
      system.answer = async () => ({ code: 0, output, errors: '' })
      await assert.rejects(credentials.access(), { message })
    })
  }

  it('that fails is reported with its last word, without secrets', async () => {
    const { credentials, system } = setUp()
    system.answer = async () => ({ code: 1, output: TOKEN, errors: `warning\nexpired session ${TOKEN}\n` })
    await assert.rejects(credentials.access(), {
      message: '"get-token" made no credential: expired session [redacted]',
    })
    system.answer = async () => ({ code: 3, output: TOKEN, errors: '' })
    await assert.rejects(credentials.access(), { message: '"get-token" made no credential: it ended with 3' })
  })

  it('that is not there is reported with what its author has to say', async () => {
    const { credentials } = setUp(`${PLUGIN}\ninstallHint: Install it from the shop.`)
    await assert.rejects(credentials.access(), {
      message: 'cannot run "get-token": there is no such program. Install it from the shop.',
    })
  })

  for (const [exec, message] of [
    [`apiVersion: ${V1}`, '/home/config:9:7: the exec plugin has no "command"'],
    [
      'apiVersion: client.authentication.k8s.io/v1alpha1\ncommand: get-token',
      `/home/config:9:19: "apiVersion" must be one of ${V1}, ${V1BETA1}`,
    ],
    [
      `apiVersion: ${V1}\ncommand: get-token\ninteractiveMode: Always`,
      '/home/config:11:24: "get-token" wants to ask somebody, and nobody is there',
    ],
  ] as const) {
    it(`that cannot be used is refused: ${message}`, async () => {
      await assert.rejects(setUp(exec).credentials.access(), { message })
    })
  }
})

describe('programs of the machine', () => {
  it('are run without input, and heard to their end', async () => {
    const script =
      'process.stdin.on("end", () => { console.log(process.env.WORD); console.error("hm"); process.exitCode = 4 }).resume()'
    const finished = await machine.run(process.execPath, ['-e', script], { ...process.env, WORD: 'yes' })
    assert.deepEqual(finished, { code: 4, output: 'yes\n', errors: 'hm\n' })
    await assert.rejects(machine.run('no-such-program-anywhere', [], {}), { code: 'ENOENT' })
  })
})
