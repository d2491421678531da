/** Runs one test: the pipeline of a config, step by step, on a clock that stands still in between. */
import type { Finding } from '../config/finding.ts'
import { createService, type Service } from '../graph/service.ts'
import { normalizeUrl } from '../http/url.ts'
import { compareStep, type Failure } from './compare-step.ts'
import { listenToExporters, type ExportedState } from './exported-state.ts'
import type { ConfigTest, Step } from './suite.ts'
import type { TestConfig } from './test-config.ts'
import { createWorld, type World } from './world.ts'

export type TestResult = {
  readonly steps: readonly StepResult[]
  /** What is no failure but probably a mistake. */
  readonly warnings: readonly Finding[]
}

export type StepResult = {
  readonly step: Step
  readonly failures: readonly Failure[]
  /** Why the test could not go on. */
  readonly error?: string
  /** The lines of the log since the step before. */
  readonly log: readonly string[]
}

export type RunOptions = {
  readonly version: string
  /** Called after each step with what the exporters have then. */
  readonly onStep?: (step: Step, state: ExportedState) => void
  readonly signal?: AbortSignal
}

/** How long the service may take to stop, on its own clock. */
const STOP_MS = 5000

export async function runTest(test: ConfigTest, subject: TestConfig, options: RunOptions): Promise<TestResult> {
  const { config, state } = listenToExporters(subject.config)
  const kinds = test.steps.flatMap(step => step.objects ?? [])
  const world = await createWorld(config, { startMs: test.startMs, version: options.version, kinds })
  const steps: StepResult[] = []
  let logged = 0
  try {
    const play = createPlay(test, { ...subject, config }, world)
    for (const step of test.steps) {
      if (options.signal?.aborted) throw new Error('interrupted')
      await play.goTo(step)
      options.onStep?.(step, state)
      const log = world.log.slice(logged)
      logged = world.log.length
      steps.push({ step, failures: compareStep(step, state, log), log })
    }
    await play.end()
  } catch (error) {
    // Whatever a component throws: this test is over, the others are not.
    const step = test.steps[steps.length] ?? test.steps.at(-1)!
    steps.push({ step, failures: [], error: reasonOf(error), log: world.log.slice(logged) })
    return { steps, warnings: [] }
  } finally {
    await world.end()
  }
  return { steps, warnings: warningsAbout(test, world) }
}

function createPlay(test: ConfigTest, { config, give }: TestConfig, world: World) {
  const { clock } = world
  const service = createService(config, world.surroundings, async () => {
    throw new Error('a config test does not reload')
  })
  let isStarted = false
  let startFailure: Error | undefined

  function start(): void {
    isStarted = true
    service.start().catch((error: unknown) => (startFailure = error as Error))
  }

  function change({ answers, objects }: Step): void {
    for (const { url, answer } of answers) world.network.answer(url, answer)
    if (objects !== undefined) world.objects.replaceAll(objects)
  }

  return {
    async goTo(step: Step): Promise<void> {
      const atMs = test.startMs + step.atMs
      if (isStarted || step.atMs > 0) {
        if (!isStarted) start()
        await clock.runBefore(atMs, () => change(step))
      } else {
        change(step)
        start()
      }
      await clock.runTo(atMs)
      if (startFailure !== undefined) throw new Error(`cannot start: ${startFailure.message}`, { cause: startFailure })
      if (step.input !== undefined) {
        give?.(step.input, clock.now())
        await clock.advance(0)
      }
      service.flush()
      await clock.advance(0)
    },
    end: () => stopService(service, world),
  }
}

/** The service waits on a clock that somebody must run meanwhile. */
async function stopService(service: Service, { clock }: World): Promise<void> {
  let isStopped = false
  const stopping = service.stop(clock.monotonic() + STOP_MS).finally(() => (isStopped = true))
  for (let waitedMs = 0; !isStopped && waitedMs < 2 * STOP_MS; waitedMs += 100) await clock.advance(100)
  if (isStopped) await stopping
}

function warningsAbout(test: ConfigTest, world: World): Finding[] {
  const warnings: Finding[] = []
  const warn = (place: Finding['place'], message: string): void =>
    void warnings.push({ place, message, severity: 'warning' })
  for (const url of world.network.unanswered()) {
    if (world.read.has(url)) warn(test.place, `${url} was asked for, and no step of "${test.name}" answers it`)
  }
  const unasked = new Set(world.network.unasked())
  for (const { url, place } of test.steps.flatMap(({ answers }) => answers)) {
    if (unasked.delete(normalizeUrl(url))) warn(place, `nobody asked for ${url} in "${test.name}"`)
  }
  const given = test.steps.find(({ objects }) => objects !== undefined)
  if (given !== undefined && !world.isApiAsked()) {
    warn(given.objectsPlace!, `nobody asked the Kubernetes API in "${test.name}"`)
  }
  return warnings
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`
}
