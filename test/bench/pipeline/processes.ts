/** Starts the programs that are compared, and asks the kernel what they use. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { root, startProcess, type GpucolProcess } from '../../support/gpucol-process.ts'

/** All that was started, to be ended whatever happens. */
const started = new Set<ChildProcess>()

/** One of the processes beside this file. Resolves when it has printed its first line, to that line. */
export async function startHelper(file: string, args: readonly (string | number)[]): Promise<string> {
  const child = track(
    spawn(process.execPath, [join(import.meta.dirname, file), ...args.map(String)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  )
  const [line] = (await once(child.stdout!, 'data')) as [Buffer]
  return line.toString().trim()
}

/** gpucol as its package has it. */
export function startDist(config: string, flags: readonly string[] = []): GpucolProcess {
  const program = startProcess(process.execPath, [
    ...flags,
    join(root, 'dist/pipeline/main.js'),
    'run',
    '--config',
    config,
  ])
  track(program.child)
  return program
}

export function startProgram(program: string, args: readonly (string | number)[], cwd?: string): ChildProcess {
  return track(spawn(program, args.map(String), { stdio: 'ignore', ...(cwd !== undefined && { cwd }) }))
}

function track(child: ChildProcess): ChildProcess {
  started.add(child)
  child.on('exit', () => started.delete(child))
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

export async function endAll(): Promise<void> {
  await Promise.all(Array.from(started, end))
}

/**
 * Time on a processor of a process, all threads together that it has now. In nanoseconds: `stat` counts hundredths of a second, and a
 * program that only receives takes seven of them in 20 s.
 */
export function cpuSeconds(pid: number): number {
  const ofThread = (thread: string): number =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ofThread(thread), 0) / 1e9
}

/** What a process has in memory, and the most it ever had. */
export function residentBytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)![1]) * 1024
  return { now: field('VmRSS'), peak: field('VmHWM') }
}

export function askJson<T>(url: string): Promise<T> {
  return new Promise((resolve, reject) => {
    get(url, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve(JSON.parse(text) as T))
    }).on('error', reject)
  })
}
