/** Files, variables and programs that are not there. */
import type { CredentialSystem, Finished } from '../../../pipeline/kubernetes/credential-system.ts'

export type FakeSystem = CredentialSystem & {
  readonly files: Map<string, string>
  readonly env: Record<string, string>
  /** What was run: the command with its arguments, and its variables. */
  readonly runs: { readonly command: string; readonly env: Readonly<Record<string, string | undefined>> }[]
  /** What the next programs print. */
  answer: () => Promise<Finished>
}

export function fakeSystem(files: Readonly<Record<string, string>> = {}, env: Record<string, string> = {}): FakeSystem {
  const known = new Map(Object.entries(files))
  const system: FakeSystem = {
    files: known,
    env,
    runs: [],
    answer: () => Promise.reject(Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })),
    readFile(path) {
      const text = known.get(path)
      if (text === undefined) throw Object.assign(new Error(`ENOENT: no such file, open '${path}'`), { code: 'ENOENT' })
      return text
    },
    run(command, args, itsEnv) {
      system.runs.push({ command: [command, ...args].join(' '), env: itsEnv })
      return system.answer()
    },
  }
  return system
}
