/**
 * A real etcd and kube-apiserver on loopback, and a kube-state-metrics that reads them, with data of their own: no kubelet, no
 * scheduler, no controllers, so that what is not written does not happen.
 */
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { eventually, freePorts, get, startProcess, type GpucolProcess } from '../../support/gpucol-process.ts'
import { buildServers, type Programs } from '../real-servers/build-servers.ts'

/** What the API answers to a write. */
export type Written = { readonly metadata: { readonly uid: string; readonly resourceVersion: string } }

export type ApiAnswer = { readonly status: number; readonly contentType: string; readonly text: string }
export type AskOptions = {
  readonly method?: string
  readonly accept?: string
  readonly body?: unknown
  /** The administrator's, unless it is another. */
  readonly token?: string
}

export type KubeServers = {
  readonly port: number
  /** The server's own certificate, which is also its authority. */
  readonly ca: string
  ask(path: string, options?: AskOptions): Promise<ApiAnswer>
  /** As administrator. Rejects unless it is answered with success. Changes are merge patches. */
  write(method: string, path: string, body?: unknown): Promise<Written>
  /** The path of a kubeconfig for whoever has a token, through another port if one is given. */
  kubeconfig(token: string, port?: number): string
  killApiServer(): Promise<void>
  startApiServer(): Promise<void>
  /** Lets etcd forget all that was before now. */
  compact(): Promise<void>
  /** The URL of its metrics. It starts anew each time and ends with the others. */
  startKubeStateMetrics(args: readonly string[]): Promise<string>
  stop(): Promise<void>
}

export const ADMIN = 'admin-token'
/** May do nothing, unless a role is bound to the user `viewer`. */
export const VIEWER = 'viewer-token'

/** On a busy machine. */
const START_MS = 90_000

type KubePrograms = Programs<'etcd' | 'kube-apiserver' | 'kube-state-metrics'>

let programs: Promise<KubePrograms | undefined> | undefined

/** Builds the servers where they are missing, which takes its time. Without Go the suite is skipped, in CI, too. */
export async function kubeServersOrSkip(context: Mocha.Context): Promise<KubeServers> {
  context.timeout(0)
  programs ??= buildServers(['etcd', 'kube-apiserver', 'kube-state-metrics'], line => {
    process.stdout.write(`  ${line}\n`)
  })
  const built = await programs
  return built === undefined ? context.skip() : startKubeServers(built)
}

async function startKubeServers(built: KubePrograms): Promise<KubeServers> {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-kube-'))
  const [etcdPort, peerPort, port] = (await freePorts(3)) as [number, number, number]
  const etcdUrl = `http://127.0.0.1:${etcdPort}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  const url = `https://127.0.0.1:${port}`
  const running: GpucolProcess[] = []
  let apiServer: GpucolProcess
  writeAccount(folder)

  function start(program: string, args: readonly string[]): GpucolProcess {
    const started = startProcess(program, args, { cwd: folder })
    running.push(started)
    return started
  }

  async function stop(): Promise<void> {
    // The last one uses those before it.
    for (const one of running.splice(0).toReversed()) await end(one)
    rmSync(folder, { recursive: true, force: true })
  }

  async function startApiServer(): Promise<void> {
    apiServer = start(built['kube-apiserver'], [
      `--etcd-servers=${etcdUrl}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${port}`,
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
    await isReady(apiServer, () => ask('/readyz'))
  }

  const ask: KubeServers['ask'] = (path, options) => askAt(url + path, options)

  const write: KubeServers['write'] = async (method, path, body) => {
    const { status, text } = await ask(path, { method, body })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as Written
  }

  const servers: Omit<KubeServers, 'ca'> = {
    port,
    ask,
    write,
    kubeconfig(token, its = port) {
      const path = join(folder, `${token}-${its}.yaml`)
      const cluster = {
        server: `https://127.0.0.1:${its}`,
        'certificate-authority': join(folder, 'certs', 'apiserver.crt'),
      }
      const config = {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'real', cluster }],
        users: [{ name: token, user: { token } }],
        contexts: [{ name: 'real', context: { cluster: 'real', user: token } }],
        'current-context': 'real',
      }
      // Kube-state-metrics starts anew when its file is written again.
      if (!existsSync(path)) writeFileSync(path, stringify(config))
      return path
    },
    async killApiServer() {
      running.splice(running.indexOf(apiServer), 1)
      await end(apiServer)
    },
    startApiServer,
    async compact() {
      const { metadata } = await write('GET', '/api/v1/pods?limit=1')
      const body = JSON.stringify({ revision: metadata.resourceVersion, physical: true })
      const response = await fetch(`${etcdUrl}/v3/kv/compaction`, { method: 'POST', body })
      if (!response.ok) throw new Error(`compaction: ${response.status} ${await response.text()}`)
    },
    async startKubeStateMetrics(args) {
      const [metrics, telemetry] = (await freePorts(2)) as [number, number]
      const metricsUrl = `http://127.0.0.1:${metrics}/metrics`
      const started = start(built['kube-state-metrics'], [
        `--kubeconfig=${servers.kubeconfig(ADMIN)}`,
        '--host=127.0.0.1',
        `--port=${metrics}`,
        '--telemetry-host=127.0.0.1',
        `--telemetry-port=${telemetry}`,
        ...args,
      ])
      await isReady(started, async () => ({ status: (await get(metricsUrl)).length > 0 ? 200 : 503 }))
      return metricsUrl
    },
    stop,
  }

  start(built.etcd, [
    `--data-dir=${join(folder, 'etcd')}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
    `--listen-client-urls=${etcdUrl}`,
    `--advertise-client-urls=${etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
  ])
  try {
    await startApiServer()
    return { ...servers, ca: readFileSync(join(folder, 'certs', 'apiserver.crt'), 'utf8') }
  } catch (error) {
    await stop()
    throw error
  }
}

async function isReady(started: GpucolProcess, ask: () => Promise<{ status: number }>): Promise<void> {
  try {
    await eventually(ask, ({ status }) => status === 200, START_MS)
  } catch (error) {
    throw new Error(`a server did not start: ${started.output().slice(-3000)}`, { cause: error })
  }
}

async function end({ child, ended }: GpucolProcess): Promise<void> {
  child.kill('SIGKILL')
  await ended
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

function askAt(url: string, { method = 'GET', accept, body, token = ADMIN }: AskOptions = {}): Promise<ApiAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      // To curl and browsers it writes indented documents.
      'user-agent': 'gpucol',
      ...(accept !== undefined && { accept }),
      ...(body !== undefined && {
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      }),
    }
    request(url, { method, headers, rejectUnauthorized: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (more: string) => (text += more))
      response.on('end', () =>
        resolve({ status: response.statusCode!, contentType: response.headers['content-type'] ?? '', text }),
      )
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}
