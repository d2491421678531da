/** `gpucol components`: lists what can stand in a config. */
import { KINDS, SECTIONS } from '../config/config-schema.ts'
import { refusePositionals, UsageError, type Command } from './command.ts'

type Row = {
  readonly kind: string
  readonly type: string
  readonly aliases: readonly string[]
  readonly summary: string
}

export const components: Command = {
  name: 'components',
  summary: 'lists the receivers, processors, exporters and extensions there are.',
  help: `Usage: gpucol components [--output table|json]

  --output FORMAT  table (for people, the default) or json (for programs).
`,
  options: { output: { type: 'string' } },
  async run(args, { registries, out }) {
    refusePositionals(args)
    const all = await registries()
    const rows = SECTIONS.flatMap(section =>
      all[section].map(({ type, aliases = [], summary }): Row => ({
        kind: KINDS[section],
        type,
        aliases,
        summary,
      })),
    )
    const { output = 'table' } = args.values
    if (output === 'json') out(`${JSON.stringify(rows, undefined, 2)}\n`)
    else if (output === 'table') out(table(rows))
    else throw new UsageError(`--output must be table or json, found "${String(output)}"`)
    return 0
  },
}

function table(rows: readonly Row[]): string {
  const header = { kind: 'KIND', type: 'TYPE', summary: 'SUMMARY' }
  const kindWidth = Math.max(...[header, ...rows].map(({ kind }) => kind.length))
  const typeWidth = Math.max(...[header, ...rows].map(({ type }) => type.length))
  return [header, ...rows]
    .map(({ kind, type, summary }) => `${kind.padEnd(kindWidth)}  ${type.padEnd(typeWidth)}  ${summary}\n`)
    .join('')
}
