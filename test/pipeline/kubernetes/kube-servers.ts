/** A real etcd and kube-apiserver on loopback, in a directory of their own: no kubelet, no scheduler, no controllers. */
import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

export type KubeServers = {
  /** `https://127.0.0.1:PORT` */
  readonly url: string
  /** The server's own certificate, which is also its authority. */
  readonly ca: string
  /** Sends a request as administrator. Rejects unless it is answered with success. */
  write(method: string, path: string, body?: unknown): Promise<{ metadata: { resourceVersion: string } }>
  killApiServer(): Promise<void>
  startApiServer(): Promise<void>
  /** Lets etcd forget all that was before now. */
  compact(): Promise<void>
  stop(): Promise<void>
}

export const ADMIN = 'admin-token'
/** May do nothing, unless a role is bound to the user `viewer`. */
export const VIEWER = 'viewer-token'

export async function startKubeServers(binaries: string): Promise<KubeServers> {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-kube-'))
  const [etcdPort, peerPort, apiPort] = (await Promise.all([freePort(), freePort(), freePort()])) as [
    number,
    number,
    number,
  ]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const url = `https://127.0.0.1:${apiPort}`
  writeAccount(folder)

  function start(program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(folder, `${program}.log`), 'a')
    return spawn(join(binaries, program), args, { stdio: ['ignore', log, log] })
  }

  async function end(process: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    if (process.exitCode !== null || process.signalCode !== null) return
    process.kill(signal)
    await once(process, 'exit')
  }

  async function startApiServer(): Promise<void> {
    apiServer = start('kube-apiserver', [
      `--etcd-servers=${etcdUrl}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${apiPort}`,
      `--cert-dir=${join(folder, 'certs')}`,
      '--endpoint-reconciler-type=none',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${join(folder, 'account.pub')}`,
      `--service-account-signing-key-file=${join(folder, 'account.key')}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--disable-admission-plugins=ServiceAccount',
    ])
    const signal = AbortSignal.timeout(90_000)
    while ((await ask('GET', `${url}/readyz`).catch(() => undefined))?.status !== 200) {
      await setTimeout(100, undefined, { signal })
    }
  }

  const etcd = start('etcd', [
    `--data-dir=${join(folder, 'etcd')}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ])
  let apiServer: ChildProcess = etcd
  await startApiServer()

  async function write(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ metadata: { resourceVersion: string } }> {
    const { status, text } = await ask(method, url + path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as { metadata: { resourceVersion: string } }
  }

  return {
    url,
    ca: readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8'),
    write,
    killApiServer: () => end(apiServer, 'SIGKILL'),
    startApiServer,
    async compact() {
      const { metadata } = await write('GET', '/api/v1/pods?limit=1')
      const body = JSON.stringify({ revision: metadata.resourceVersion, physical: true })
      const response = await fetch(`${etcdUrl}/v3/kv/compaction`, { method: 'POST', body })
      if (!response.ok) throw new Error(`compaction: ${response.status} ${await response.text()}`)
    },
    async stop() {
      await end(apiServer, 'SIGKILL')
      await end(etcd, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function writeAccount(folder: string): void {
  mkdirSync(join(folder, 'certs'))
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(join(folder, 'account.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  writeFileSync(join(folder, 'account.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  // token,user,uid,"groups"
  writeFileSync(
    join(folder, 'tokens.csv'),
    `${ADMIN},admin,admin,"system:masters"\n${VIEWER},viewer,viewer,"viewers"\n`,
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function ask(method: string, url: string, body?: unknown): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${ADMIN}`,
      ...(body !== undefined && {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      }),
    }
    request(url, { method, headers, rejectUnauthorized: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (more: string) => (text += more))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}
