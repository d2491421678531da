/** `gpucol print-config`: shows what a config comes to after merging and expansion, without its secrets. */
import { ConfigError } from '../config/config-error.ts'
import { printConfig as print } from '../config/print-config.ts'
import { configArguments, configHelp, configOptions, refusePositionals, type Command } from './command.ts'

export const printConfig: Command = {
  name: 'print-config',
  summary: 'prints a config after merging and expansion, without secrets.',
  help: `Usage: gpucol print-config --config FILE [--config FILE ...] [--set KEY=VALUE ...] [--defaults]

Checks only what is needed for merging; gpucol validate checks the rest.

${configHelp}  --defaults       Adds what is not said and has a default.
`,
  options: { ...configOptions, defaults: { type: 'boolean' } },
  async run(args, { registries, env, out, err }) {
    refusePositionals(args)
    const { files, set } = configArguments(args)
    try {
      out(print({ files, set, registries: await registries(), env, withDefaults: args.values['defaults'] === true }))
      return 0
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      err(`${error.message}\n`)
      return 2
    }
  },
}
