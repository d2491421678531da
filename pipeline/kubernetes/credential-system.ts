/** Files, variables and programs, as credentials need them. Tests bring their own. */
import { readFileSync } from 'node:fs'

export type CredentialSystem = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The text of a file; throws as `node:fs` does. */
  readFile(path: string): string
  /** Runs a program without input to its end. Rejects if it cannot be started or does not end in time. */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Finished>
}
export type Finished = { readonly code: number | null; readonly output: string; readonly errors: string }

/** Long enough for a plugin that asks a cloud for a token, and that cloud its login server. */
const LONGEST_RUN_MS = 60_000
/** A credential has a few kilobytes. */
const MOST_OUTPUT = 1024 * 1024

export const machine: CredentialSystem = {
  env: process.env,
  readFile: path => readFileSync(path, 'utf8'),
  run: (command, args, env) =>
    new Promise((resolve, reject) => {
      // Few credentials come from a program: loaded for those.
      const { spawn } = process.getBuiltinModule('node:child_process')
      const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: LONGEST_RUN_MS })
      let output = ''
      let errors = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (output.length < MOST_OUTPUT) output += text
      })
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (errors.length < MOST_OUTPUT) errors += text
      })
      child.on('error', reject)
      child.on('close', (code, signal) => {
        if (signal !== null) errors ||= `ended by ${signal}`
        resolve({ code, output, errors })
      })
    }),
}
