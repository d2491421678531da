/** Runs a command as `main.ts` does, and keeps what it wrote. */
import { runCommand, type Command, type CommandContext } from '../../pipeline/commands/command.ts'
import { testRegistries } from './test-registries.ts'

export type CommandResult = { readonly code: number; readonly out: string; readonly err: string }

export async function resultOf(
  command: Command,
  argv: readonly string[],
  context: Partial<CommandContext> = {},
): Promise<CommandResult> {
  let out = ''
  let err = ''
  const code = await runCommand(command, argv, {
    registries: async () => testRegistries,
    env: {},
    version: '1.2.3',
    signal: new AbortController().signal,
    onHangup: () => () => {},
    ...context,
    out: text => void (out += text),
    err: text => void (err += text),
  })
  return { code, out, err }
}
