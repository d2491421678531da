/** What a subcommand is, and what all of them do alike: read their options, show their help, answer a wrong call. */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { closest } from '../config/closest.ts'
import type { LoadRegistries } from '../config/load-registries.ts'

export type Command = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The text after the first line of `--help`. `--help` itself need not be mentioned. */
  readonly help: string
  /** As `parseArgs` of `node:util` takes them; `--help` is added. */
  readonly options: ParseArgsOptionsConfig
  /** Settles to the exit code: 0 fine, 1 failed, 2 wrong use or bad config. */
  run(args: CommandArguments, context: CommandContext): Promise<number>
}

export type CommandArguments = {
  readonly values: Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  readonly positionals: readonly string[]
}

export type CommandContext = {
  readonly registries: LoadRegistries
  /** Writes to standard output or standard error; the text brings its own line breaks. */
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly version: string
  /** Aborted when the user asks the program to end (Ctrl-C, SIGTERM); a second time ends it at once. */
  readonly signal: AbortSignal
  /** Calls `run` at every SIGHUP, until the returned function is called. */
  onHangup(run: () => void): () => void
}

/** A command was called in a way that it does not understand; leads to exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** For commands that read a config. */
export const configOptions = {
  config: { type: 'string', multiple: true },
  set: { type: 'string', multiple: true },
} as const satisfies ParseArgsOptionsConfig

export const configHelp = `  --config FILE    The config. May be given several times: later files are merged over earlier ones.
  --set KEY=VALUE  Sets one value after all files, for example --set exporters.debug.verbosity=detailed.
`

/** The files and settings that were given. At least one file is needed. */
export function configArguments(args: CommandArguments): { files: readonly string[]; set: readonly string[] } {
  const files = stringsOf(args, 'config')
  if (files.length === 0) throw new UsageError('--config FILE is missing')
  return { files, set: stringsOf(args, 'set') }
}

/** All values of an option that may be repeated. */
export function stringsOf(args: CommandArguments, option: string): readonly string[] {
  const value = args.values[option]
  return Array.isArray(value) ? value.map(String) : []
}

/** Runs a command with what stands after its name on the command line. */
export async function runCommand(command: Command, argv: readonly string[], context: CommandContext): Promise<number> {
  try {
    const args = parseArguments(command, argv)
    if (args.values['help'] === true) {
      context.out(helpText(command))
      return 0
    }
    return await command.run(args, context)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    context.err(`gpucol ${command.name}: ${error.message}\nSee gpucol ${command.name} --help.\n`)
    return 2
  }
}

export function helpText(command: Command): string {
  return `gpucol ${command.name}: ${command.summary}\n\n${command.help}  --help           Shows this.\n`
}

function parseArguments(command: Command, argv: readonly string[]): CommandArguments {
  const options: ParseArgsOptionsConfig = { ...command.options, help: { type: 'boolean', short: 'h' } }
  // Not strict: the sentences about a wrong call are ours, and can say what was probably meant.
  const { values, positionals, tokens } = parseArgs({
    args: [...argv],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const option = options[token.name]
    if (option === undefined) throw new UsageError(`unknown option ${token.rawName}${meant(token.name, options)}`)
    const isSwallowed = !token.inlineValue && token.value?.startsWith('--')
    if (option.type === 'string' && (token.value === undefined || isSwallowed))
      throw new UsageError(`${token.rawName} needs a value`)
    if (option.type === 'boolean' && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value`)
  }
  return { values, positionals }
}

function meant(name: string, options: ParseArgsOptionsConfig): string {
  const suggestion = closest(name, Object.keys(options))
  return suggestion === undefined ? '' : `; did you mean --${suggestion}?`
}

/** For commands that take options only. */
export function refusePositionals(args: CommandArguments): void {
  const [first] = args.positionals
  if (first === undefined) return
  const hint = /\.ya?ml$/.test(first) ? `; did you mean --config ${first}?` : ''
  throw new UsageError(`unexpected argument "${first}"${hint}`)
}
