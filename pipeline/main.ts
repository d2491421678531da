#!/usr/bin/env node
/** The composition root and the entry of the command line: the only file that knows all components and all commands. */
import { readFileSync } from 'node:fs'
import { exporters } from '../exporters/registry.ts'
import { processors } from '../processors/registry.ts'
import { receivers } from '../receivers/registry.ts'
import { runCommand, type Command } from './commands/command.ts'
import { components } from './commands/components.ts'
import { explain } from './commands/explain.ts'
import { migrate } from './commands/migrate.ts'
import { printConfig } from './commands/print-config.ts'
import { rbac } from './commands/rbac.ts'
import { run } from './commands/run.ts'
import { schema } from './commands/schema.ts'
import { simulate } from './commands/simulate.ts'
import { test } from './commands/test.ts'
import { validate } from './commands/validate.ts'
import { closest } from './config/closest.ts'
import { extensions } from './extensions.ts'
import { packageFile } from './package-files.ts'

const commands: readonly Command[] = [
  run,
  validate,
  components,
  printConfig,
  schema,
  test,
  simulate,
  migrate,
  explain,
  rbac,
]

const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }

// Explicitly: a library that still waits to repeat a request would keep the process for half a minute.
const code = await main(process.argv.slice(2))
// What a pipe has not taken yet would be lost with the process.
await Promise.all([process.stdout, process.stderr].map(stream => new Promise(resolve => stream.write('', resolve))))
process.exit(code)

async function main([name, ...args]: string[]): Promise<number> {
  if (name === '--version' || name === 'version') return say(`gpucol ${version}\n`, 0)
  if (name === '--help' || name === '-h' || name === 'help') return say(usage(), 0)
  if (name === undefined) return complain(usage())
  const command = commands.find(command => command.name === name)
  if (command === undefined) {
    const meant = closest(
      name,
      commands.map(command => command.name),
    )
    return complain(
      `gpucol: unknown command "${name}"${meant === undefined ? '' : `; did you mean ${meant}?`}\n\n${usage()}`,
    )
  }
  const { signal, onHangup, release } = listenToSignals()
  try {
    return await runCommand(command, args, {
      registries: { receivers, processors, exporters, extensions },
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

function usage(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`).join('\n')
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
