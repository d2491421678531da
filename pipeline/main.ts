#!/usr/bin/env node
/** The composition root and the entry of the command line: the only file that knows all components and all commands. */
import { readFileSync } from 'node:fs'
import { exporters } from '../exporters/registry.ts'
import { processors } from '../processors/registry.ts'
import { receivers } from '../receivers/registry.ts'
import { runCommand, type Command } from './commands/command.ts'
import { beginFrugalStart } from './commands/frugal-heap.ts'
import { beginFrugalMalloc } from './commands/frugal-malloc.ts'
import { closest } from './config/closest.ts'
import { registryLoader } from './config/load-registries.ts'
import { extensions } from './extensions.ts'
import { packageFile } from './package-files.ts'

/** In the order of the list that users see. What a command needs is loaded when it is called. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  run: async () => (await import('./commands/run.ts')).run,
  validate: async () => (await import('./commands/validate.ts')).validate,
  components: async () => (await import('./commands/components.ts')).components,
  'print-config': async () => (await import('./commands/print-config.ts')).printConfig,
  schema: async () => (await import('./commands/schema.ts')).schema,
  test: async () => (await import('./commands/test.ts')).test,
  simulate: async () => (await import('./commands/simulate.ts')).simulate,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  explain: async () => (await import('./commands/explain.ts')).explain,
  rbac: async () => (await import('./commands/rbac.ts')).rbac,
}

const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }

// Whoever reads the log may go away, and everything else goes on. Unheard, each failure to tell of it would be the next one to tell of.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

// Explicitly: a library that still waits to repeat a request would keep the process for half a minute.
const code = await main(process.argv.slice(2))
// What a pipe has not taken yet would be lost with the process.
await Promise.all([process.stdout, process.stderr].map(stream => new Promise(resolve => stream.write('', resolve))))
process.exit(code)

async function main([name, ...args]: string[]): Promise<number> {
  if (name === '--version' || name === 'version') return say(`gpucol ${version}\n`, 0)
  if (name === '--help' || name === '-h' || name === 'help') return say(await usage(), 0)
  if (name === undefined) return complain(await usage())
  if (!Object.hasOwn(commands, name)) {
    const meant = closest(name, Object.keys(commands))
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    return complain(`gpucol: unknown command "${name}"${hint}\n\n${await usage()}`)
  }
  if (name === 'run') {
    beginFrugalMalloc()
    beginFrugalStart()
  }
  const command = await commands[name]!()
  const { signal, onHangup, release } = listenToSignals()
  try {
    return await runCommand(command, args, {
      registries: registryLoader({ receivers, processors, exporters, extensions }),
      out: text => void process.stdout.write(text),
      err: text => void process.stderr.write(text),
      env: process.env,
      version,
      signal,
      onHangup,
    })
  } finally {
    release()
  }
}

async function usage(): Promise<string> {
  const all = await Promise.all(Object.values(commands).map(load => load()))
  const width = Math.max(...all.map(({ name }) => name.length))
  const list = all.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')
  return `gpucol collects the metrics of GPU clusters.

Usage: gpucol COMMAND [OPTIONS]

${list}

gpucol COMMAND --help tells more about a command, gpucol --version the version.
`
}

function say(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

function complain(text: string): number {
  process.stderr.write(text)
  return 2
}

/** The first Ctrl-C or SIGTERM asks, the second does not. */
function listenToSignals() {
  const ending = new AbortController()
  const hangups = new Set<() => void>()
  function end(): void {
    if (ending.signal.aborted) process.exit(130)
    ending.abort()
  }
  const hangUp = (): void => hangups.forEach(run => run())
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
  process.on('SIGHUP', hangUp)
  return {
    signal: ending.signal,
    onHangup(run: () => void): () => void {
      hangups.add(run)
      return () => hangups.delete(run)
    },
    release(): void {
      process.off('SIGINT', end)
      process.off('SIGTERM', end)
      process.off('SIGHUP', hangUp)
    },
  }
}
