/** gpucol as users start it: a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export type GpucolProcess = {
  readonly child: ChildProcess
  /** Everything that it wrote to standard error and standard output so far. */
  output(): string
  /** Resolves when its output matches; rejects if it ends before that, or after 20 s, unless it may take longer. */
  until(pattern: RegExp, withinMs?: number): Promise<void>
  /** Resolves to the exit code, or the name of the signal. */
  readonly ended: Promise<number | string>
}

export function startGpucol(
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): GpucolProcess {
  return startProcess(process.execPath, [join(root, 'pipeline/main.ts'), ...args], options)
}

export function startProcess(
  program: string,
  args: readonly string[],
  { cwd = root, env = process.env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): GpucolProcess {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const heard = new Set<() => void>()
  const hear = (chunk: Buffer): void => {
    output += chunk.toString()
    heard.forEach(look => look())
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = new Promise<number | string>(resolve => child.on('close', (code, signal) => resolve(code ?? signal!)))
  return {
    child,
    ended,
    output: () => output,
    until(pattern, withinMs = 20_000) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => finish(new Error(`"${pattern}" did not come:\n${output}`)), withinMs)
        function finish(error?: Error): void {
          clearTimeout(timer)
          heard.delete(look)
          if (error === undefined) resolve()
          else reject(error)
        }
        const look = (): void => {
          if (pattern.test(output)) finish()
        }
        heard.add(look)
        void ended.then(code =>
          finish(pattern.test(output) ? undefined : new Error(`it ended with ${code}:\n${output}`)),
        )
        look()
      })
    },
  }
}

/** Ports that nobody uses now. */
export async function freePorts(count: number): Promise<number[]> {
  return portsOf(await Promise.all(Array.from({ length: count }, () => listenAt(0))))
}

/** The first of so many ports in a row that nobody uses now. */
export async function freePortsInARow(count: number): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const [first] = (await freePorts(1)) as [number]
    const wanted = Array.from({ length: count }, (_, i) => first + i)
    const taken = await Promise.allSettled(wanted.map(listenAt))
    await portsOf(taken.flatMap(result => (result.status === 'fulfilled' ? [result.value] : [])))
    if (taken.every(({ status }) => status === 'fulfilled')) return first
  }
  throw new Error(`no ${count} free ports in a row were found`)
}

function listenAt(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

/** Which ports they have, which are free again afterwards. */
async function portsOf(servers: readonly Server[]): Promise<number[]> {
  const ports = servers.map(server => (server.address() as { port: number }).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}

/** Asks again and again until the answer is as wanted; fails with the last answer after 20 s, unless it may take longer. */
export async function eventually<T>(
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
  withinMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + withinMs
  for (;;) {
    const answer = await ask().catch((error: unknown) => error)
    if (!(answer instanceof Error) && isWanted(answer as T)) return answer as T
    if (Date.now() > deadline)
      throw new Error(
        `it did not become as wanted; last: ${answer instanceof Error ? answer.message : JSON.stringify(answer)?.slice(0, 2000)}`,
      )
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

export async function get(url: string): Promise<string> {
  const response = await fetch(url)
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`)
  return text
}
