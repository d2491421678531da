/** `gpucol run`: the collector itself, until it is told to end. */
import { createCatalogs } from '../catalog/catalogs.ts'
import { createSystemClock } from '../clock/system-clock.ts'
import { deadlineIn, settledBy } from '../clock/deadline.ts'
import { createCluster } from '../cluster/cluster.ts'
import { ConfigError, formatProblem } from '../config/config-error.ts'
import { loadConfig, type LoadedConfig } from '../config/loaded-config.ts'
import { StartError } from '../graph/lifecycle.ts'
import { createService, type Service } from '../graph/service.ts'
import { createNetwork } from '../http/network.ts'
import { packageFile } from '../package-files.ts'
import { processMemory } from '../telemetry/process-memory.ts'
import { openStorage } from '../storage/storage.ts'
import { createLog, type RootLog } from '../telemetry/log.ts'
import { createTelemetry } from '../telemetry/telemetry.ts'
import {
  configArguments,
  configHelp,
  configOptions,
  refusePositionals,
  type Command,
  type CommandContext,
} from './command.ts'
import { endFrugalStart } from './frugal-heap.ts'

/** From the first Ctrl-C to the end, at the most, are a few more than these: what is queued is delivered in this time. */
const DRAIN_MS = 3000

export const run: Command = {
  name: 'run',
  summary: 'runs the collector until it is told to end.',
  help: `Usage: gpucol run --config FILE [--config FILE ...] [--set KEY=VALUE ...]

SIGHUP reads the config again; so does POST /-/reload of the extension \`web\`. SIGINT (Ctrl-C) or SIGTERM ends it after
delivering what is on its way; a second one ends it at once.

${configHelp}`,
  options: configOptions,
  async run(args, context) {
    refusePositionals(args)
    const { files, set } = configArguments(args)
    const load = (): Promise<LoadedConfig> =>
      loadConfig({ files, set, registries: context.registries, env: context.env })
    try {
      return await runService(await load(), load, context)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      context.err(`${error.message}\n`)
      return 2
    }
  },
}

async function runService(
  config: LoadedConfig,
  load: () => Promise<LoadedConfig>,
  context: CommandContext,
): Promise<number> {
  const clock = createSystemClock()
  const log = createLog({ ...config.service.telemetry.logs, write: context.err, now: clock.now })
  warnAbout(config, log)
  const network = createNetwork(clock)
  const telemetry = createTelemetry({ clock, version: context.version, log })
  const storage = await openStorage(config.service.storage, log, clock)
  const service = createService(
    config,
    {
      version: context.version,
      log,
      clock,
      network,
      cluster: createCluster(),
      catalogs: createCatalogs(packageFile('configs', 'catalogs')),
      storage,
      memory: processMemory(),
      counters: telemetry.counters,
      reloaded: telemetry.reloaded,
    },
    load,
    async next => {
      await telemetry.apply(next.service.telemetry.metrics)
      log.change(next.service.telemetry.logs)
      warnAbout(next, log)
      if (next.service.storage !== config.service.storage) {
        log.warn('another service.storage takes effect at the next start')
      }
    },
  )
  const endReloads = context.onHangup(() => void service.reload())
  const endCrashes = survive(log)
  let endLearning = (): void => {}
  try {
    await telemetry.start(config.service.telemetry.metrics, network)
    await service.start()
    announce(service, telemetry.address(), log)
    endLearning = endFrugalStart(clock)
    await aborted(context.signal)
    log.info('stopping; once more ends at once')
    return 0
  } catch (error) {
    log.error(
      error instanceof StartError ? `cannot start: ${error.message}` : `cannot start: ${(error as Error).message}`,
    )
    return 1
  } finally {
    endLearning()
    endReloads()
    await service.stop(deadlineIn(clock, DRAIN_MS))
    // What is lost with it is counted.
    await settledBy(clock, deadlineIn(clock, 500), storage.close())
    await telemetry.stop(deadlineIn(clock, 500))
    endCrashes()
    log.info('stopped')
  }
}

function warnAbout(config: LoadedConfig, log: RootLog): void {
  for (const warning of config.warnings) log.warn(formatProblem(warning).split('\n')[0]!)
}

/** Says what is being collected and where to look, in as many lines as there are pipelines and one more. */
function announce(service: Service, ownMetrics: string | undefined, log: RootLog): void {
  const described = new Map(service.components().map(({ kind, id, about }) => [`${kind} ${id}`, about]))
  const name = (kind: string, id: string): string => {
    const about = described.get(`${kind} ${id}`)
    return about === undefined ? id : `${id} (${about})`
  }
  for (const { id, receivers, processors, exporters } of service.config.pipelines.values()) {
    const steps = [
      receivers.map(receiver => name('receiver', receiver)).join(', '),
      ...processors,
      exporters.map(exporter => name('exporter', exporter)).join(', '),
    ]
    log.info(`pipeline ${id}: ${steps.join(' -> ')}`)
  }
  const places = service.config.service.extensions.map(id => name('extension', id))
  if (ownMetrics !== undefined) places.push(`own metrics (http://${ownMetrics}/metrics)`)
  log.info(`gpucol ${service.version} is running${places.length > 0 ? `; there are ${places.join(', ')}` : ''}`)
}

/** A failure that nobody caught is a mistake in gpucol: it is reported, and what else there is goes on. */
function survive(log: RootLog): () => void {
  const report = (error: unknown): void => {
    log.error('an error that nobody expected; please report it', {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
  }
  process.on('uncaughtException', report)
  process.on('unhandledRejection', report)
  return () => {
    process.off('uncaughtException', report)
    process.off('unhandledRejection', report)
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
