/** `gpucol validate`: says everything that is wrong with a config, and runs nothing. */
import { ConfigError, formatProblems } from '../config/config-error.ts'
import { loadConfig, type LoadedConfig } from '../config/loaded-config.ts'
import { configArguments, configHelp, configOptions, refusePositionals, type Command } from './command.ts'

export const validate: Command = {
  name: 'validate',
  summary: 'checks a config and says what is wrong with it.',
  help: `Usage: gpucol validate --config FILE [--config FILE ...] [--set KEY=VALUE ...]

Prints every mistake with its file, line and column, and ends with 2 if there is one. Nothing is started and nobody is asked.

${configHelp}`,
  options: configOptions,
  async run(args, context) {
    refusePositionals(args)
    const { files, set } = configArguments(args)
    try {
      const config = await loadConfig({ files, set, registries: context.registries, env: context.env })
      if (config.warnings.length > 0) context.err(`${formatProblems(config.warnings)}\n`)
      context.out(`${files.join(', ')}: ok, ${describe(config)}\n`)
      return 0
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      context.err(`${error.message}\n${count(error)}\n`)
      return 2
    }
  },
}

function describe({ pipelines, receivers, processors, exporters, warnings }: LoadedConfig): string {
  return [
    amount(pipelines.size, 'pipeline'),
    amount(receivers.size, 'receiver'),
    amount(processors.size, 'processor'),
    amount(exporters.size, 'exporter'),
    ...(warnings.length > 0 ? [amount(warnings.length, 'warning')] : []),
  ].join(', ')
}

function count({ problems }: ConfigError): string {
  const warnings = problems.filter(({ severity }) => severity === 'warning').length
  const errors = amount(problems.length - warnings, 'error')
  return warnings > 0 ? `${errors}, ${amount(warnings, 'warning')}` : errors
}

function amount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
