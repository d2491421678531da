/**
 * Holds batches back, and then refuses them, before the system or Node ends the process for want of memory.
 *
 * Place it first: what it stops costs nothing further on. It looks at physical memory and at the heap of JavaScript objects, each with
 * a limit of its own, because either can end the process. It frees nothing itself: garbage is collected by Node when it likes, and what
 * this processor does is to let no more arise meanwhile.
 */
import { defineProcessor, RefusedError, type ConfigSchema, type Problem } from '../pipeline/component.ts'
import { duration, parseDuration } from '../pipeline/config/fields.ts'
import type { Batch } from '../pipeline/model/batch.ts'
import { Held } from './memory-limiter/held.ts'
import { pressureAfter, type Pressure } from './memory-limiter/pressure.ts'
import { isBelow, parseLimit, part, thresholdOf, type Limit } from './memory-limiter/thresholds.ts'

const config = {
  type: 'object',
  properties: {
    limit: {
      type: 'string',
      format: 'size_or_percentage',
      default: '85%',
      description:
        'Above this batches are refused, but for newer ones of sources of which one is held back: receivers that scrape keep them, begin no more scrapes, and try again every second. A size (`1500MiB`) is compared with physical memory; a percentage is one of the memory of the container or the machine, and of the heap that Node may have.',
    },
    soft_limit: {
      type: 'string',
      format: 'size_or_percentage',
      description: 'Above this `above_soft_limit` is done. Default: nine tenths of `limit`.',
    },
    resume_below: {
      type: 'string',
      format: 'size_or_percentage',
      description: 'Below this everything is handed on again. Default: nine tenths of the soft limit.',
    },
    above_soft_limit: {
      type: 'string',
      enum: ['thin', 'refuse'],
      default: 'thin',
      description:
        'What is done above the soft limit. `thin` holds back the newest batch of each source and hands it on when there is room again: scrapes are late, and older ones left out; what was pushed is refused. `refuse` is what is done above the hard limit.',
    },
    check_interval: duration('How often it is looked at how much memory is in use.', '1s'),
  },
  additionalProperties: false,
  unsupported: {
    limit_mib: 'write `limit: 1500MiB`',
    spike_limit_mib: 'write `soft_limit: 1200MiB`, which is the limit without the spike',
    limit_percentage: 'write `limit: 80%`',
    spike_limit_percentage: 'write `soft_limit: 60%`, which is the limit without the spike',
    ballast_size_mib: 'there is no ballast',
    min_gc_interval_when_soft_limited: 'garbage is collected by Node when it likes',
    min_gc_interval_when_hard_limited: 'garbage is collected by Node when it likes',
  },
} as const satisfies ConfigSchema

/** The distance from one limit to the next that is below it. */
const STEP = 0.9
/** What the heap may have of its limit where the limit is a number of bytes. */
const HEAP_SHARE = 0.85

const LEVELS: Readonly<Record<Pressure, number>> = { none: 0, soft: 1, hard: 2 }

export const memoryLimiter = defineProcessor({
  type: 'memory_limiter',
  summary: 'Holds back and refuses batches before memory runs out.',
  config,
  example: { limit: '80%', soft_limit: '70%', check_interval: '1s' },
  check: checkLimits,

  create(options, { clock, counters, log, memory }, next) {
    const { limit, soft, resume } = limitsOf(options)
    const thresholds = {
      hard: thresholdOf(limit, HEAP_SHARE, memory),
      soft: thresholdOf(soft, HEAP_SHARE * STEP, memory),
      resume: thresholdOf(resume, HEAP_SHARE * STEP * STEP, memory),
    }
    const checkMs = parseDuration(options.check_interval)
    const held = new Held()
    let pressure: Pressure = 'none'
    let cancelTimer = (): void => {}
    let unobserve = (): void => {}

    function look(): void {
      const use = memory.read()
      pressure = pressureAfter(pressure, use, thresholds)
      const isSoft = pressure !== 'none'
      const isHard = pressure === 'hard'
      const doing = options.above_soft_limit === 'thin' ? 'held back' : 'refused'
      log.state(
        SOFT,
        isSoft ? 'failing' : 'ok',
        isSoft ? `${thresholds.soft.excess(use)}: batches are ${doing}` : undefined,
      )
      log.state(
        HARD,
        isHard ? 'failing' : 'ok',
        isHard ? `${thresholds.hard.excess(use)}: batches are refused` : undefined,
      )
    }

    function check(): void {
      cancelTimer = clock.after(checkMs, check)
      look()
      release()
    }

    /** One batch may be too much again, so it is looked after each. */
    function release(): void {
      if (pressure !== 'none') return
      held.release(batch => {
        if (pressure !== 'none' || !isTaken(batch)) return false
        look()
        return true
      })
    }

    function isTaken(batch: Batch): boolean {
      try {
        next(batch)
        return true
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error
        return false
      }
    }

    function countThinned(points: number): void {
      if (points > 0) counters.add('gpucol_processor_thinned_metric_points', points)
    }

    return {
      start() {
        const endings = [
          counters.observe('gpucol_processor_memory_pressure', () => [{ value: LEVELS[pressure] }]),
          counters.observe('gpucol_processor_delayed_metric_points', () => [{ value: held.points }]),
        ]
        unobserve = () => endings.forEach(end => end())
        check()
      },
      consume(batch) {
        // The end of a source frees memory.
        if (pressure === 'none' || batch.outcome !== 'ok') {
          countThinned(held.drop(batch.source))
          return next(batch)
        }
        // A newer batch in the place of an older one needs no more memory.
        const isHeldBack = pressure === 'soft' && options.above_soft_limit === 'thin'
        // A batch that was pushed is a part of what its source has, and whoever pushed it can send it again.
        if (batch.source.origin !== undefined || (!isHeldBack && !held.has(batch.source))) {
          throw new RefusedError('there is not enough memory just now')
        }
        countThinned(held.put(batch))
      },
      flush: release,
      stop() {
        cancelTimer()
        unobserve()
        // Now or never.
        held.release(isTaken)
      },
      describe: () => `up to ${options.limit}`,
    }
  },
})

const SOFT = 'the soft limit of memory'
const HARD = 'the hard limit of memory'

type Options = { readonly limit: string; readonly soft_limit?: string; readonly resume_below?: string }

function limitsOf({ limit, soft_limit, resume_below }: Options): { limit: Limit; soft: Limit; resume: Limit } {
  const hard = parseLimit(limit)
  const soft = soft_limit === undefined ? part(hard, STEP) : parseLimit(soft_limit)
  const resume = resume_below === undefined ? part(soft, STEP) : parseLimit(resume_below)
  return { limit: hard, soft, resume }
}

function checkLimits(options: Options & { readonly check_interval: string }): Problem[] {
  const problems: Problem[] = []
  for (const key of ['limit', 'soft_limit', 'resume_below'] as const) {
    try {
      if (options[key] !== undefined) parseLimit(options[key])
    } catch (error) {
      problems.push({ path: [key], message: (error as Error).message })
    }
  }
  if (parseDuration(options.check_interval) === 0)
    problems.push({ path: ['check_interval'], message: 'must be above 0' })
  if (problems.length > 0) return problems
  const { limit, soft, resume } = limitsOf(options)
  return [...order('soft_limit', soft, 'limit', limit), ...order('resume_below', resume, 'soft_limit', soft)]
}

function order(key: string, lower: Limit, above: string, upper: Limit): Problem[] {
  const below = isBelow(lower, upper)
  if (below === true) return []
  const message =
    below === false ? `must be below \`${above}\`` : `write it as \`${above}\` is: both sizes, or both percentages`
  return [{ path: [key], message }]
}
