import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import type { KubernetesAccess } from '../../../pipeline/kubernetes/access.ts'
import { createKubernetesCredentials } from '../../../pipeline/kubernetes/credentials.ts'
import { fakeSystem } from './fake-system.ts'

/** What of the independent client is used here. Its own types do not compile without those of packages that nobody needs. */
type Judge = {
  KubeConfig: new () => {
    loadFromFile(path: string): void
    mergeConfig(other: unknown, preserveContext: boolean): void
    getCurrentCluster(): { server: string; proxyUrl?: string } | null
    applyToHTTPSOptions(options: JudgedOptions): Promise<void>
  }
}
type JudgedOptions = {
  ca?: Buffer
  cert?: Buffer | string
  key?: Buffer | string
  headers?: Record<string, string>
  auth?: string
  rejectUnauthorized?: boolean
  servername?: string
}
const JUDGE: string = '@kubernetes/client-node'

const CA = Buffer.from('-----BEGIN CERTIFICATE-----\nca\n').toString('base64')
const CERT = Buffer.from('-----BEGIN CERTIFICATE-----\ncert\n').toString('base64')
const KEY = Buffer.from('-----BEGIN PRIVATE KEY-----\nkey\n').toString('base64')

function kubeconfig(cluster: string, user: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- {name: other, cluster: {server: "https://other.example"}}
- name: c
  cluster: {${cluster}}
users:
- {name: other, user: {token: other-token}}
- name: u
  user: {${user}}
contexts:
- {name: other, context: {cluster: other, user: other}}
- {name: x, context: {cluster: c, user: u, namespace: n}}
current-context: x
`
}

const SERVER = 'server: "https://api.example:6443"'

/** A program that prints a credential. */
const PLUGIN = `exec: ${JSON.stringify({
  apiVersion: 'client.authentication.k8s.io/v1',
  interactiveMode: 'Never',
  command: process.execPath,
  args: [
    '-p',
    `JSON.stringify({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status: { token: process.env.WORD } })`,
  ],
  env: [{ name: 'WORD', value: 'made' }],
})}`

/** Kubeconfigs that both read, with the files that lie beside them. */
const JUDGED: readonly (readonly [what: string, text: string, files?: Readonly<Record<string, string>>])[] = [
  ['a token', kubeconfig(SERVER, 'token: secret')],
  ['a CA inline', kubeconfig(`${SERVER}, certificate-authority-data: ${CA}`, 'token: secret')],
  [
    'a CA in a file beside it',
    kubeconfig(`${SERVER}, certificate-authority: ca.crt`, 'token: t'),
    { 'ca.crt': 'the CA' },
  ],
  ['a certificate inline', kubeconfig(SERVER, `client-certificate-data: ${CERT}, client-key-data: ${KEY}`)],
  [
    'a certificate in files',
    kubeconfig(SERVER, 'client-certificate: ./me.crt, client-key: me.key'),
    { 'me.crt': 'the certificate', 'me.key': 'the key' },
  ],
  ['no verification', kubeconfig(`${SERVER}, insecure-skip-tls-verify: true`, 'token: secret')],
  ['another name of the server', kubeconfig(`${SERVER}, tls-server-name: kubernetes`, 'token: secret')],
  ['a path on the server', kubeconfig('server: "https://rancher.example/k8s/clusters/c-1"', 'token: secret')],
  ['a password', kubeconfig(SERVER, 'username: me, password: secret')],
  ['a proxy', kubeconfig(`${SERVER}, proxy-url: "http://proxy.example:3128"`, 'token: secret')],
  ['a plugin', kubeconfig(SERVER, PLUGIN)],
  ['nobody', kubeconfig(SERVER, '')],
  ['somebody else', kubeconfig(SERVER, 'token: secret, as: reader')],
  [
    'JSON',
    JSON.stringify({
      'current-context': 'x',
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      clusters: [{ name: 'c', cluster: { server: 'https://json.example' } }],
      users: [{ name: 'u', user: { token: 'secret' } }],
    }),
  ],
  ['anchors', kubeconfig(`${SERVER}`, '&t token: secret').replace('namespace: n', 'namespace: &n n')],
]

describe('a kubeconfig', () => {
  describe('is read as @kubernetes/client-node reads it:', function () {
    // Loading the client takes seconds on a busy machine: it has thousands of generated files.
    this.timeout(60_000)
    let judge: Judge
    let folder: string
    before(async () => {
      judge = (await import(JUDGE)) as Judge
      folder = mkdtempSync(join(tmpdir(), 'gpucol-kubeconfig-'))
    })
    after(() => rmSync(folder, { recursive: true, force: true }))

    function write(files: Readonly<Record<string, string>>): void {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    }

    for (const [what, text, files = {}] of JUDGED) {
      it(what, async () => {
        write({ config: text, ...files })
        const path = join(folder, 'config')
        const judged = new judge.KubeConfig()
        judged.loadFromFile(path)
        assert.deepEqual(comparable(await read(path)), await verdict(judged))
      })
    }

    it('several files', async () => {
      const first = kubeconfig(SERVER, 'token: first')
      const second = first
        .replace(/: x\b/g, ': y')
        .replace(/: c\b/g, ': d')
        .replace(/: u\b/g, ': v')
        .replace(/name: other/g, 'name: another')
      write({ first, second: second.replace('first', 'second') })
      const judged = new judge.KubeConfig()
      judged.loadFromFile(join(folder, 'first'))
      const more = new judge.KubeConfig()
      more.loadFromFile(join(folder, 'second'))
      judged.mergeConfig(more, true)
      const both = `${join(folder, 'first')}:${join(folder, 'second')}`
      assert.deepEqual(comparable(await read(both)), await verdict(judged))
      assert.deepEqual((await read(both, 'y')).headers, { authorization: 'Bearer second' })
    })

    async function verdict(judged: InstanceType<Judge['KubeConfig']>): Promise<object> {
      const options: JudgedOptions = {}
      await judged.applyToHTTPSOptions(options)
      const { server, proxyUrl } = judged.getCurrentCluster()!
      return {
        server,
        proxyUrl,
        ca: options.ca?.toString(),
        cert: options.cert?.toString(),
        key: options.key?.toString(),
        authorization:
          options.auth === undefined
            ? options.headers?.['Authorization']
            : `Basic ${Buffer.from(options.auth).toString('base64')}`,
        as: options.headers?.['Impersonate-User'],
        serverName: options.servername,
        verifies: options.rejectUnauthorized !== false,
      }
    }
  })

  describe('as kubectl weighs it', () => {
    it('has values inline before those in files', async () => {
      const text = kubeconfig(`${SERVER}, certificate-authority: nope, certificate-authority-data: ${CA}`, 'token: t')
      const { tls } = await fromFiles({ '/k/config': text })
      assert.match(tls!.ca!, /^-----BEGIN CERTIFICATE-----\nca\n$/)
    })

    it('has the token of a file before the other, as long as that can be read', async () => {
      const text = kubeconfig(SERVER, 'token: inline, tokenFile: token')
      const both = await fromFiles({ '/k/config': text, '/k/token': 'of the file\n' })
      assert.deepEqual(both.headers, { authorization: 'Bearer of the file' })
      assert.deepEqual((await fromFiles({ '/k/config': text })).headers, { authorization: 'Bearer inline' })
    })

    it('has tokens before passwords, and both before plugins', async () => {
      const exec = 'exec: {apiVersion: client.authentication.k8s.io/v1, command: nope, interactiveMode: Never}'
      for (const [user, expected] of [
        [`token: t, username: me, password: p, ${exec}`, 'Bearer t'],
        [`username: me, password: p, ${exec}`, `Basic ${Buffer.from('me:p').toString('base64')}`],
      ] as const) {
        assert.deepEqual((await fromFiles({ '/k/config': kubeconfig(SERVER, user) })).headers, {
          authorization: expected,
        })
      }
    })

    it('takes an address without scheme for https only where a certificate says so', async () => {
      for (const [cluster, expected] of [
        ['server: "api.example:8080"', 'http://api.example:8080'],
        [`server: "api.example:6443", certificate-authority-data: ${CA}`, 'https://api.example:6443'],
        ['server: "https://api.example/"', 'https://api.example'],
      ] as const) {
        assert.equal((await fromFiles({ '/k/config': kubeconfig(cluster, 'token: t') })).server, expected)
      }
    })

    it('says each thing once, in the first file that says it', async () => {
      const first = 'current-context: x\nusers: [{name: u, user: {token: first}}]'
      const second = kubeconfig(SERVER, 'username: me, password: second').replace(
        'current-context: x',
        'current-context: other',
      )
      const access = await fromFiles({ '/k/a': first, '/k/b': second }, '/k/missing:/k/a::/k/b:/k/a')
      assert.deepEqual([access.server, access.headers], ['https://api.example:6443', { authorization: 'Bearer first' }])
    })

    it('may be empty where another is not', async () => {
      const access = await fromFiles({ '/k/a': '# nothing\n', '/k/b': kubeconfig(SERVER, 'token: t') }, '/k/a:/k/b')
      assert.equal(access.server, 'https://api.example:6443')
    })

    it('may lie in the home directory', async () => {
      const system = fakeSystem({ '/home/me/.kube/config': kubeconfig(SERVER, 'token: t') }, { HOME: '/home/me' })
      const credentials = createKubernetesCredentials({
        kubeconfig: '~/.kube/config',
        clock: createVirtualClock(0),
        system,
      })
      assert.equal((await credentials.access()).server, 'https://api.example:6443')
      assert.equal(credentials.describe(), 'context "x" of /home/me/.kube/config')
    })
  })

  it('is read again when its credentials are refused, and its files when they are replaced', async () => {
    const clock = createVirtualClock(0)
    const text = kubeconfig(`${SERVER}, certificate-authority: ca`, 'tokenFile: token')
    const system = fakeSystem({ '/k/config': text, '/k/ca': 'old CA', '/k/token': 'old' })
    const credentials = createKubernetesCredentials({ kubeconfig: '/k/config', clock, system })
    const first = await credentials.access()
    assert.equal(await credentials.access(), first)
    system.files.set('/k/ca', 'new CA').set('/k/token', 'new')
    await clock.advance(10_000)
    const second = await credentials.access()
    assert.deepEqual([second.tls?.ca, second.headers], ['new CA', { authorization: 'Bearer new' }])
    system.files.set('/k/config', kubeconfig('server: "https://moved.example"', 'token: t'))
    credentials.refused(second)
    assert.equal((await credentials.access()).server, 'https://moved.example')
  })

  const SECRET = 'hunter2-hunter2'
  for (const [what, text, message] of [
    ['has no context', 'clusters: []', 'there is no "current-context" in the kubeconfig "/k/config"'],
    ['names a context that is not there', 'current-context: x', '/k/config:1:18: there is no context "x"'],
    [
      'names a cluster that is not there',
      'current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]',
      '/k/config:2:41: there is no cluster "c"',
    ],
    [
      'names no user',
      'current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: s}}]',
      '/k/config:2:31: context "x" names no user',
    ],
    ['has a cluster without server', kubeconfig('', `token: ${SECRET}`), '/k/config:6:12: the cluster has no "server"'],
    [
      'has a server that is none',
      kubeconfig('server: "ftp://api"', `token: ${SECRET}`),
      '/k/config:6:21: "server" is no http:// or https:// address',
    ],
    [
      'has a proxy that cannot be used',
      kubeconfig(`${SERVER}, proxy-url: "socks5://me:${SECRET}@proxy"`, 'token: t'),
      '/k/config:6:60: "proxy-url" must begin with http:// or https://',
    ],
    [
      'has a certificate without key',
      kubeconfig(SERVER, `client-certificate-data: ${CERT}`),
      '/k/config:10:9: the user has no "client-key"',
    ],
    [
      'has data that is not base64',
      kubeconfig(SERVER, `client-certificate-data: ${CERT}, client-key-data: "${SECRET}"`),
      /^\/k\/config:10:\d+: "client-key-data" is not base64$/,
    ],
    ['has a token that is no text', kubeconfig(SERVER, 'token: 12345'), '/k/config:10:17: "token" must be a text'],
    [
      'has a flag that is none',
      kubeconfig(`${SERVER}, insecure-skip-tls-verify: "yes"`, ''),
      '/k/config:6:75: "insecure-skip-tls-verify" must be true or false',
    ],
    ['has a list that is none', 'clusters: {c: 1}', '/k/config:1:11: "clusters" must be a list'],
    ['has an entry that is none', 'clusters: [c]', '/k/config:1:12: an item of "clusters" must be a map'],
    [
      'has two of one name',
      'users: [{name: a, user: {}}, {name: a, user: {}}]',
      '/k/config:1:37: there are two users "a"',
    ],
    ['is another object', 'kind: Pod', '/k/config:1:7: this is a Pod, not a kubeconfig'],
    ['is no map', '- a', '/k/config:1:1: expected a map'],
    ['is no YAML', `users: [{name: u, user: {token: "${SECRET}}}]`, /^\/k\/config:1:\d+: missing closing "quote$/],
    [
      'wants what was removed long ago',
      kubeconfig(SERVER, 'auth-provider: {name: gcp}'),
      '/k/config:10:25: an "auth-provider" is not supported: use an "exec" plugin',
    ],
    [
      'acts for several groups',
      kubeconfig(SERVER, 'token: t, as: me, as-groups: [a, b]'),
      '/k/config:10:39: "as-groups" is not supported beyond one group',
    ],
    [
      'names a file that is not there',
      kubeconfig(`${SERVER}, certificate-authority: ../ca`, 'token: t'),
      'cannot read "certificate-authority" "/ca": there is no such file',
    ],
  ] as [string, string, string | RegExp][]) {
    it(`that ${what} is refused, and no secret is shown`, async () => {
      await assert.rejects(fromFiles({ '/k/config': text }), (error: Error) => {
        if (typeof message === 'string') assert.equal(error.message, message)
        else assert.match(error.message, message)
        assert.doesNotMatch(error.message, new RegExp(SECRET))
        return true
      })
    })
  }

  it('that is not there is named', async () => {
    await assert.rejects(fromFiles({}), { message: 'cannot read the kubeconfig "/k/config": there is no such file' })
  })
})

function fromFiles(files: Readonly<Record<string, string>>, kubeconfigs = '/k/config'): Promise<KubernetesAccess> {
  const options = { kubeconfig: kubeconfigs, clock: createVirtualClock(0), system: fakeSystem(files) }
  return createKubernetesCredentials(options).access()
}

function read(kubeconfigs: string, context?: string): Promise<KubernetesAccess> {
  const options = { kubeconfig: kubeconfigs, clock: createVirtualClock(0), ...(context !== undefined && { context }) }
  return createKubernetesCredentials(options).access()
}

function comparable({ server, headers, tls, proxyUrl }: KubernetesAccess): object {
  return {
    server,
    proxyUrl,
    ca: tls?.ca,
    cert: tls?.cert,
    key: tls?.key,
    authorization: headers['authorization'],
    as: headers['impersonate-user'],
    serverName: tls?.serverName,
    verifies: tls?.insecureSkipVerify !== true,
  }
}
