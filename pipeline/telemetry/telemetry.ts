/**
 * How gpucol observes itself: counts what its components do, and shows that at `/metrics` and by OTLP, with the OpenTelemetry SDK.
 */
import { isDeepStrictEqual } from 'node:util'
import type { ResourceMetrics } from '@opentelemetry/sdk-metrics'
import type { Clock, ComponentStatus, Counters, Log, Network } from '../component.ts'
import type { PushConfig, ServiceConfig } from '../config/loaded-config.ts'
import { createRouter, type Reply } from '../server/router.ts'
import type { Instruments } from './instruments.ts'
import { createMovableListener, type MovableListener } from './movable-listener.ts'
import { createOwnCounts } from './own-counts.ts'
import type { Push } from './push.ts'

export type TelemetryOptions = { readonly clock: Clock; readonly version: string; readonly log: Log }

/** `service.telemetry.metrics`. */
export type MetricsConfig = ServiceConfig['telemetry']['metrics']

export type Telemetry = {
  /** Counts in the name of a component. */
  counters(component: Pick<ComponentStatus, 'kind' | 'id' | 'pipeline'>): Counters
  /** Where `/metrics` is, `host:port` with the true port; undefined while it is nowhere. */
  address(): string | undefined
  /** Rejects if the address cannot be had. */
  start(config: MetricsConfig, network: Network): Promise<void>
  /** After a reload. Rejects, and leaves all as it was, if a new address cannot be had. */
  apply(config: MetricsConfig): Promise<void>
  /** Says what became of a reload. */
  reloaded(outcome: 'ok' | 'failed'): void
  /** Pushes a last time and closes what is open. */
  stop(deadlineMs: number): Promise<void>
}

export function createTelemetry({ clock, version, log }: TelemetryOptions): Telemetry {
  const startMs = clock.monotonic()
  const counts = createOwnCounts(clock.now)
  const counters = counts.counters({})
  const reloaded = observeReloads(counters, clock)
  let instruments: Promise<Instruments> | undefined
  let endProcess: (() => void) | undefined
  let listener: MovableListener | undefined
  let pushConfig: PushConfig | undefined
  let push: Push | undefined
  let stopping: Promise<void> | undefined

  /** Until somebody can look, numbers are counted and nothing more. */
  function showNumbers(): Promise<Instruments> {
    instruments ??= loadInstruments()
    return instruments
  }

  async function loadInstruments(): Promise<Instruments> {
    const [{ createInstruments }, { observeProcess }] = await Promise.all([
      import('./instruments.ts'),
      import('./process-metrics.ts'),
    ])
    endProcess = observeProcess(counters, clock, { version, startMs })
    const resource = {
      'service.name': 'gpucol',
      'service.version': version,
      'service.instance.id': crypto.randomUUID(),
    }
    return createInstruments(counts, resource, clock.now)
  }

  async function collect(): Promise<ResourceMetrics> {
    const { resourceMetrics, errors } = await (await showNumbers()).collect()
    if (errors.length === 0) log.state('reading own metrics', 'ok')
    else log.state('reading own metrics', 'failing', String(errors[0]))
    return resourceMetrics
  }

  async function metricsReply(): Promise<Reply> {
    const body = (await showNumbers()).render(await collect())
    return { status: 200, contentType: 'text/plain; version=0.0.4; charset=utf-8', body }
  }

  async function apply(config: MetricsConfig): Promise<void> {
    if (listener === undefined) throw new Error('telemetry was not started')
    if (config.address !== 'none' || config.push !== undefined) await showNumbers()
    try {
      await listener.moveTo(config.address)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`own metrics (service.telemetry.metrics.address) cannot be served: ${reason}`, { cause: error })
    }
    if (isDeepStrictEqual(config.push, pushConfig)) return
    push?.cancel()
    push = config.push && (await beginPush(config.push))
    pushConfig = config.push
  }

  async function beginPush(config: PushConfig): Promise<Push> {
    const { startPush } = await import('./push.ts')
    return startPush({ config, clock, log, collect })
  }

  async function stop(deadlineMs: number): Promise<void> {
    await Promise.all([push?.stop(deadlineMs), listener?.close(deadlineMs)])
    endProcess?.()
    await (await instruments)?.shutdown()
  }

  return {
    counters: ({ kind, id, pipeline }) => counts.counters({ [kind]: id, ...(pipeline !== undefined && { pipeline }) }),
    address: () => listener?.address(),
    start(config, network) {
      const routes = [{ method: 'GET', path: '/metrics', about: 'own metrics', handle: metricsReply }] as const
      listener = createMovableListener(network, clock, createRouter(routes, { log, counters }))
      return apply(config)
    },
    apply,
    reloaded,
    stop: deadlineMs => (stopping ??= stop(deadlineMs)),
  }
}

/** The config that gpucol starts with counts as read well, and not as a reload. */
function observeReloads(counters: Counters, clock: Clock): (outcome: 'ok' | 'failed') => void {
  let successful = true
  let readMs = clock.now()
  for (const outcome of ['ok', 'failed']) counters.add('gpucol_config_reloads', 0, { outcome })
  counters.observe('gpucol_config_last_reload_successful', () => [{ value: successful ? 1 : 0 }])
  counters.observe('gpucol_config_last_reload_success_timestamp_seconds', () => [{ value: readMs / 1000 }])
  return outcome => {
    counters.add('gpucol_config_reloads', 1, { outcome })
    successful = outcome === 'ok'
    if (successful) readMs = clock.now()
  }
}
