/**
 * Rolls up what single GPUs, pods and nodes do to workloads, projects, nodes and the cluster, in the words of a catalog.
 *
 * Place it after `normalize`, which makes the facts it aggregates, and after `join_workload`, whose rules say what a pod belongs to.
 */
import {
  INPUT_CATALOGS,
  knownFacts,
  loadInputCatalog,
  loadOutputCatalog,
  outputCatalogProblems,
  outputMetricProblems,
} from '../pipeline/catalog/catalogs.ts'
import { outputMetricSchema } from '../pipeline/catalog/output-schema.ts'
import { usualWorkloadRules } from '../pipeline/catalog/workload-rules.ts'
import { assignmentRules, RESERVATION_NAMESPACES } from '../pipeline/cluster/assignment-rules.ts'
import { createClusterGate } from '../pipeline/cluster/cluster-gate.ts'
import { joinerNear, joinersOf, type Joiner } from '../pipeline/cluster/joiners.ts'
import { SEEN_DEVICES, type SeenDevice } from '../pipeline/cluster/seen.ts'
import { clusterTables } from '../pipeline/cluster/tables.ts'
import { defineProcessor, RefusedError, type ConfigSchema, type Host } from '../pipeline/component.ts'
import { duration, parseDuration } from '../pipeline/config/fields.ts'
import { endBatch, type Batch } from '../pipeline/model/batch.ts'
import { createTracked } from '../pipeline/model/tracked.ts'
import { createSeriesProcessor } from '../pipeline/series-processor.ts'
import { createCycle } from './roll-up/cycle.ts'
import { createEarlyPasses } from './roll-up/early-passes.ts'
import { createIntake } from './roll-up/intake.ts'
import { createKeptState, type KeptMap } from './roll-up/kept-state.ts'
import { createModel, type ModelRules } from './roll-up/model.ts'
import { observeRollUp } from './roll-up/own-metrics.ts'
import { ownSources } from './roll-up/own-sources.ts'
import { createPass, type Joined } from './roll-up/pass.ts'
import { resolveRules } from './roll-up/rules.ts'
import { everyInterval } from './roll-up/timer.ts'
import { createValues } from './roll-up/values.ts'

const config = {
  type: 'object',
  properties: {
    catalog: {
      anyOf: [
        { type: 'string', format: 'catalog' },
        { type: 'array', items: { type: 'string', format: 'catalog' } },
      ],
      default: 'runai-2.17',
      description:
        'Which metrics are made: the name of a catalog, the path of a file of your own (from the current directory, or from the config), or a list of such. Of two that have one name the later counts.',
    },
    metrics: {
      type: 'array',
      items: outputMetricSchema,
      default: [],
      description: 'Further metrics, or others instead of those of the catalog that have the same names.',
    },
    interval: duration('How often results are handed on, at full multiples of it by the clock.', '15s'),
    on_demand: {
      type: 'boolean',
      default: false,
      description:
        'Whether results are also handed on whenever an exporter is asked for what there is, as `prometheus` is by a scraper, so that they are as new as the last scrapes of targets.',
    },
    cluster_id: { type: 'string', default: 'local', description: 'What the cluster is called in labels.' },
    hold_failed: duration(
      'How long the last values of a target count that cannot be scraped: one that is missed is no drop in utilisation.',
      '5m',
    ),
    keep_input: {
      type: 'boolean',
      default: false,
      description: 'Whether the facts that are aggregated are also passed on.',
    },
    wait_for_cluster: duration(
      'How long nothing is handed on until the model of the cluster is complete and every target was tried once.',
      '60s',
    ),
    active_above: {
      type: 'number',
      minimum: 0,
      maximum: 100,
      default: 0,
      description: 'A GPU is busy above this utilisation, in percent.',
    },
    never_active: {
      type: 'string',
      enum: ['none', 'first_seen'],
      default: 'none',
      description:
        'What the last time is of a GPU that has not been busy since it is known: there is no series, or it is when the GPU was first seen, as in rules of Run:ai of 2021.',
    },
    shared_gpu_memory: {
      type: 'string',
      enum: ['measured', 'split'],
      default: 'measured',
      description:
        'What pods use of the memory of a GPU that they share and that has no readings of single pods: nothing is shown, or it is divided by their shares, and the series have the label estimated="true".',
    },
    gpu_memory_request: {
      type: 'string',
      enum: ['MB', 'MiB'],
      default: 'MB',
      description:
        'What a number is that pods request GPU memory by: later versions of Run:ai mean MB, 2.17 and KAI MiB.',
    },
    mig_counts: {
      type: 'string',
      enum: ['slices', 'instances', 'share'],
      default: 'slices',
      description:
        'As how many GPUs an allocated MIG instance counts: its slices, as Run:ai has it, 1, or the part of the board that it is.',
    },
    unlimited: {
      type: ['string', 'integer'],
      enum: ['inf', -1, '-1', 'omit'],
      default: 'inf',
      description: 'How a quota without limit is shown.',
    },
    reservation_namespaces: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: RESERVATION_NAMESPACES,
      description: 'Namespaces of pods that only hold a GPU for others.',
    },
  },
  additionalProperties: false,
} as const satisfies ConfigSchema

/** What every roll-up has beside its catalog. */
const ALWAYS = ['unattributed']

/** How long after a start it is waited for workloads that were there before it. */
const SETTLED_MS = 3_600_000

export const rollUp = defineProcessor({
  type: 'roll_up',
  summary: 'Rolls up GPUs, pods and nodes to workloads, projects and the cluster, in the words of a catalog.',
  config,
  example: { catalog: 'runai-2.17', interval: '15s', cluster_id: 'my-cluster' },
  checksEach: 'metrics',
  check({ catalog, metrics, interval }) {
    const catalogs = namesOf(catalog).map(name => ({ name, problems: outputCatalogProblems(name) }))
    const ofCatalogs = catalogs.flatMap(({ problems }, i) =>
      problems.map(message => ({ path: typeof catalog === 'string' ? ['catalog'] : ['catalog', i], message })),
    )
    const good = catalogs.filter(({ problems }) => problems.length === 0).map(({ name }) => name)
    const ofMetrics = outputMetricProblems(good, metrics, { areAll: good.length === catalogs.length })
    const ofInterval =
      parseDuration(interval) > 0
        ? []
        : [{ path: ['interval'], message: 'must be longer than 0, or results are made all the time' }]
    return [
      ...ofCatalogs,
      ...ofInterval,
      ...ofMetrics.map(({ path, message }) => ({ path: ['metrics', ...path], message })),
    ]
  },

  create(options, host, next) {
    const { catalogs, cluster, clock, log } = host
    const facts = knownFacts(catalogs)
    const outputs = [...namesOf(options.catalog), ...ALWAYS].map(name => loadOutputCatalog(catalogs, name))
    const { rules, pass } = resolveRules(outputs, options.metrics, facts)
    const values = createValues(rules, facts, options.active_above)
    const tables = clusterTables(cluster)
    const modelRules = rulesOfModel(options, host)
    const model = createModel(cluster, modelRules, new Set(rules.map(({ level }) => level)))
    const { shared_gpu_memory: sharedMemory, never_active: neverActive } = options
    const sources = ownSources(cluster, host.id, host.pipeline)
    const cycle = createCycle({ sources, rules, values, model, sharedMemory, neverActive, now: clock.now })
    const intake = createIntake({
      uses: values.uses,
      holdMs: parseDuration(options.hold_failed),
      monotonic: clock.monotonic,
      settle: cycle.settle,
    })
    const state = createKeptState(
      host.storage.state([host.id, host.pipeline ?? ''].join(' ')),
      [
        { name: 'devices', map: cycle.activity.kept.devices },
        { name: 'pods', map: cycle.activity.kept.pods },
        { name: 'workloads', map: cycle.activity.kept.workloads },
        { name: 'phases', map: cycle.phaseTimes.kept },
        // A total is what counters had grown by when they showed what is kept of them.
        { name: 'totals', map: cycle.counterTotals.kept.totals, isTogether: true },
        { name: 'counted', map: cycle.countedWorkloads.kept, isTogether: true },
        ...Array.from(cycle.counterTotals.kept.counters, ([name, map]): KeptMap => {
          return { name: `counters ${name}`, map, isTogether: true }
        }),
      ],
      log,
    )
    const objectFacts = factsOfObjects(host)
    const apiTells = createTracked<true>()
    const early = createEarlyPasses(
      name => objectFacts.has(name) && pass.some(rule => (rule.from ?? rule.metric) === name),
    )
    const passing = createSeriesProcessor(
      createPass({
        rules: pass,
        isOfObjects: name => objectFacts.has(name),
        isConsumed: name => intake.wants(name) || objectFacts.has(name),
        keepInput: options.keep_input,
        tables,
        joined: () => joinedBy(joinerNear(host)),
        apiTells: apiTells.entry('tells'),
      }),
      host,
      next,
    )
    const gate = createClusterGate(
      tables.feeds,
      parseDuration(options.wait_for_cluster),
      host,
      'roll-ups are made of what is known',
      () => {},
    )
    // At a reload the model is there, and readings come with the next scrapes.
    const awaited = new Set(Array.from(cluster.table<SeenDevice>(SEEN_DEVICES).values(), ({ source }) => source.name))
    const startedMs = clock.monotonic()
    let isLoaded = false
    let flushedMs = -Infinity
    let stopTimer = (): void => {}
    let stopAnswering = (): void => {}
    let unobserve = (): void => {}

    /** Half of the input would be a number that is too small, and nobody could tell. */
    function isReady(): boolean {
      gate.check()
      if (!isLoaded || gate.held.value === true) return false
      // What it holds back comes all at once, when it sees that the model is complete.
      if (
        joinersOf(cluster)
          .values()
          .some(one => one.pipeline === host.pipeline && one.isHolding())
      )
        return false
      if (clock.monotonic() - startedMs >= parseDuration(options.wait_for_cluster)) return true
      if (awaited.size > 0) return false
      for (const areTried of tables.collections.values()) if (!areTried()) return false
      return true
    }

    function flush(): void {
      if (!isReady()) return
      intake.expire()
      if (isSettled()) cycle.activity.settle()
      const nowMs = clock.now()
      if (nowMs < flushedMs) setBack(nowMs)
      flushedMs = nowMs
      for (const source of sources.takeLeft()) hand(endBatch(source, nowMs, 'removed'))
      for (const batch of cycle.flush(nowMs)) hand(batch)
    }

    /** Whether whoever is not known by now is no more: kube-state-metrics may have been away at the start. */
    function isSettled(): boolean {
      if (clock.monotonic() - startedMs < SETTLED_MS) return false
      return ![...tables.feeds.values()].includes('reading')
    }

    /** What was noted by a clock that was ahead would be newer than everything for as long as it was ahead. */
    function setBack(nowMs: number): void {
      cycle.notAfter(nowMs)
    }

    function hand(batch: Batch): void {
      try {
        next(batch)
      } catch (error) {
        // The next flush brings newer numbers.
        if (!(error instanceof RefusedError)) throw error
      }
    }

    return {
      async start() {
        await state.load()
        cycle.restore()
        setBack(clock.now())
        isLoaded = true
        unobserve = observeRollUp(host.counters, cycle, intake, values, clock)
        if (options.on_demand) stopAnswering = host.demand.answer(flush)
        stopTimer = everyInterval(clock, parseDuration(options.interval), () => {
          flush()
          // What ends with the process is written when it is handed on, at the end.
          if (!host.storage.persistent) return
          cycle.collect(clock.now())
          state.save()
        })
      },
      consume(batch) {
        const isOfApi = batch.source.isModelled === true && batch.outcome === 'ok'
        if (isOfApi) apiTells.set('tells', true)
        else early.note(batch)
        if (awaited.size > 0) awaited.delete(batch.source.name)
        intake.take(batch)
        passing.consume(batch)
        if (isOfApi) for (const passed of early.take()) passing.consume(passed)
      },
      step(source, layout) {
        if (source.isModelled === true || early.isNoted(layout)) return undefined
        const step = passing.step(source, layout)
        const before = step && intake.taker(source, layout)
        return before === undefined ? step : { ...step!, before }
      },
      release: passing.release,
      flush,
      async stop() {
        stopTimer()
        stopAnswering()
        unobserve()
        gate.stop()
        if (!isLoaded) return
        isLoaded = false
        cycle.collect(clock.now())
        await state.saveAll()
      },
      describe: () => `${rules.length} metrics every ${options.interval}`,
    }
  },
})

function namesOf(catalog: string | readonly string[]): readonly string[] {
  return typeof catalog === 'string' ? [catalog] : catalog
}

type ModelOptions = {
  readonly cluster_id: string
  readonly gpu_memory_request: 'MB' | 'MiB'
  readonly mig_counts: 'slices' | 'instances' | 'share'
  readonly unlimited: ModelRules['unlimited'] | -1
  readonly reservation_namespaces: readonly string[]
}

/** What a pod belongs to is what `join_workload` says in the same pipeline; where there is none, what it would say by default. */
function rulesOfModel(options: ModelOptions, host: Host): () => ModelRules {
  const usual = usualWorkloadRules(host.catalogs)
  const assignment = assignmentRules(options)
  let known: ModelRules | undefined
  return () => {
    const workload = joinerNear(host)?.workload ?? usual
    if (known?.workload !== workload) {
      known = {
        workload,
        assignment,
        clusterId: options.cluster_id,
        megabytesPerRequested: options.gpu_memory_request === 'MiB' ? 1.048576 : 1,
        unlimited: options.unlimited === -1 ? '-1' : options.unlimited,
      }
    }
    return known
  }
}

/** A node is a label that series of Kubernetes objects have of their own. */
function joinedBy(joiner: Joiner | undefined): Joined {
  if (joiner === undefined) return { labels: new Set(), names: new Map() }
  const names = Array.from(joiner.names).filter(([label]) => label !== 'node')
  return { labels: new Set([...names.map(([, name]) => name), ...joiner.add.keys()]), names: joiner.names }
}

/** The model of the cluster is made of these. */
function factsOfObjects({ catalogs }: Host): ReadonlySet<string> {
  const names = new Set<string>()
  for (const catalog of INPUT_CATALOGS) {
    for (const { fact, object } of loadInputCatalog(catalogs, catalog).rules.values()) {
      if (object !== undefined) names.add(fact.name)
    }
  }
  return names
}
