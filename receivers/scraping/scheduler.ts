/**
 * One timer for all targets of a receiver.
 *
 * Targets are spread over their interval, but their moments lie on a grid, so that those of one moment start together: every
 * wake-up costs more than the scrape it starts, and a scrape that follows others a third less than one that comes alone, because
 * what it needs is in the processor's caches. So the moments of few targets lie a second apart, and those of many as close as the
 * grid. A target keeps its moments for as long as it is there; a wake-up that comes late does not shift those that follow.
 */
import type { Clock } from '../../pipeline/component.ts'

const GRID_MS = 200
/** How far apart moments are at the most, and how many of them an interval has at the least. */
const STEP_MS = 1000
const FEWEST_STEPS = 5
/** Before there are more at one moment, those between are used: what else there is to do must not wait for all of them. */
const MOST_TOGETHER = 250
const ROUNDING = 1e-6
/** The longest a new target waits for its first scrape, however long its interval. */
const FIRST_WITHIN_MS = 10_000
/** Few targets need not wait at all: so long after one the next is first scraped. */
const FIRST_APART_MS = 10

/** What is run now and again. */
export type Task = { scrape(): void }

export type Scheduler = {
  /** Runs a task now and again, first within the smaller of the interval and 10 s. */
  add(intervalMs: number, task: Task): Scheduled
  remove(scheduled: Scheduled): void
  stop(): void
}

export type Scheduled = {
  readonly task: Task
  /** One of the moments that lie an interval apart; that of its crowd, once it is one of it. This and `dueMs` count from when the scheduler began. */
  rhythm: Rhythm
  /** Until it is one of a crowd. */
  dueMs: number
  isRegular: boolean
  crowd: Crowd | undefined
  isGone: boolean
}

type Rhythm = { readonly intervalMs: number; readonly anchorMs: number }

/** Those that are due together from now on. They are looked at as one: there are many, and looking at each is most of the work. */
type Crowd = Rhythm & {
  dueMs: number
  tasks: Task[]
  /** Of the tasks, those that are not to run any more. */
  readonly gone: Set<Task>
}

/** Who is asked to run tasks, if not they themselves. */
export type TaskRunner = { run(task: Task): void; forget(task: Task): void }

const AT_ONCE: TaskRunner = { run: task => task.scrape(), forget() {} }

export function createScheduler(clock: Clock, runner: TaskRunner = AT_ONCE): Scheduler {
  const startMs = clock.monotonic()
  const gridMs = clock.aligned ? 1 : GRID_MS
  // Crowds, and those on their way to one, by the number of their moment on the grid.
  const moments = new Map<number, (Crowd | Scheduled)[]>()
  const crowds = new Map<string, Crowd>()
  let added = 0
  let wakeAt = Infinity
  let cancelTimer: (() => void) | undefined

  /** Returns its moment: never one that is over. */
  function place(one: Crowd | Scheduled): number {
    // A moment of the grid is not missed for what is lost of a number when others are added and taken away.
    const moment = Math.ceil(one.dueMs / gridMs - ROUNDING)
    const others = moments.get(moment)
    if (others === undefined) moments.set(moment, [one])
    else others.push(one)
    return moment
  }

  function wakeFor(moment: number): void {
    if (moment >= wakeAt) return
    cancelTimer?.()
    wakeAt = moment
    cancelTimer = clock.after(startMs + moment * gridMs - clock.monotonic(), wake)
  }

  function wake(): void {
    cancelTimer = undefined
    wakeAt = Infinity
    const nowMs = clock.monotonic() - startMs
    const { dueCrowds, dueAlone } = takeDue(nowMs)
    const sizes = dueCrowds.map(crowd => moveOn(crowd, nowMs))
    for (const scheduled of dueAlone) {
      if (scheduled.isRegular) join(scheduled, nowMs)
      else goOn(scheduled, nowMs)
    }
    let next = Infinity
    for (const moment of moments.keys()) next = Math.min(next, moment)
    if (next < Infinity) wakeFor(next)
    dueCrowds.forEach((crowd, i) => runAll(crowd, sizes[i]!))
    for (const { task, isGone } of dueAlone) if (!isGone) runner.run(task)
  }

  /** Those that have been there. Any of them may take away others. */
  function runAll({ tasks, gone }: Crowd, size: number): void {
    for (let i = 0; i < size; i++) {
      const task = tasks[i]!
      if (gone.size === 0 || !gone.has(task)) runner.run(task)
    }
  }

  function takeDue(nowMs: number): { dueCrowds: Crowd[]; dueAlone: Scheduled[] } {
    // Timers may fire a fraction of a millisecond early.
    const current = Math.floor((nowMs + 1) / gridMs)
    const dueCrowds: Crowd[] = []
    const dueAlone: Scheduled[] = []
    for (const [moment, those] of moments) {
      if (moment > current) continue
      moments.delete(moment)
      for (const one of those) {
        if ('tasks' in one) dueCrowds.push(one)
        else if (!one.isGone) dueAlone.push(one)
      }
    }
    return { dueCrowds, dueAlone }
  }

  /** To its next moment. Returns how many tasks it has, since others may join before they are run. */
  function moveOn(crowd: Crowd, nowMs: number): number {
    const { gone } = crowd
    if (gone.size > 0) {
      crowd.tasks = crowd.tasks.filter(task => !gone.has(task))
      gone.clear()
    }
    if (crowd.tasks.length === 0) crowds.delete(keyOf(crowd))
    else {
      crowd.dueMs = nextDue(crowd, crowd.dueMs, nowMs)
      place(crowd)
    }
    return crowd.tasks.length
  }

  /** The first scrape comes early, the next has its regular moment. */
  function goOn(scheduled: Scheduled, nowMs: number): void {
    scheduled.isRegular = true
    scheduled.dueMs = nextDue(scheduled.rhythm, scheduled.dueMs, nowMs)
    place(scheduled)
  }

  /** It is run at a moment of the crowd, and with it from the next on. */
  function join(scheduled: Scheduled, nowMs: number): void {
    const { rhythm, task, dueMs } = scheduled
    let crowd = crowds.get(keyOf(rhythm))
    if (crowd === undefined) {
      crowd = { ...rhythm, dueMs: nextDue(rhythm, dueMs, nowMs), tasks: [], gone: new Set() }
      crowds.set(keyOf(rhythm), crowd)
      place(crowd)
    }
    crowd.tasks.push(task)
    scheduled.crowd = crowd
    scheduled.rhythm = crowd
  }

  return {
    add(intervalMs, task) {
      const number = clock.aligned ? 0 : added++
      const nowMs = clock.monotonic() - startMs
      const firstMs = (number * FIRST_APART_MS) % Math.min(intervalMs, FIRST_WITHIN_MS)
      // An order that fills the largest gaps first, however many there will be.
      const anchorMs = clock.aligned ? 0 : momentWithin(intervalMs, number)
      const scheduled: Scheduled = {
        task,
        rhythm: { intervalMs, anchorMs },
        // Rounded up to the grid it is still in time.
        dueMs: clock.aligned
          ? nextMultiple(anchorMs, intervalMs, nowMs)
          : Math.ceil(nowMs + Math.max(0, firstMs - gridMs)),
        // On an aligned clock nothing comes early.
        isRegular: clock.aligned === true,
        crowd: undefined,
        isGone: false,
      }
      wakeFor(place(scheduled))
      return scheduled
    },
    remove(scheduled) {
      scheduled.isGone = true
      scheduled.crowd?.gone.add(scheduled.task)
      runner.forget(scheduled.task)
    },
    stop() {
      cancelTimer?.()
      cancelTimer = undefined
      moments.clear()
      crowds.clear()
    },
  }
}

function keyOf({ intervalMs, anchorMs }: Rhythm): string {
  return `${intervalMs} ${anchorMs}`
}

/** Where the moments of a target lie within its interval. */
function momentWithin(intervalMs: number, number: number): number {
  const longest = Math.min(STEP_MS, intervalMs / FEWEST_STEPS)
  const stepMs = Math.max(1, Math.floor(longest / GRID_MS)) * GRID_MS
  const steps = intervalMs / stepMs
  const step = Math.floor(((number * GOLDEN_FRACTION) % 1) * steps)
  const crowd = Math.floor(number / (steps * MOST_TOGETHER))
  return step * stepMs + (crowd % (stepMs / GRID_MS)) * GRID_MS
}

/** The next regular moment, but half an interval later at the earliest. */
function nextDue({ anchorMs, intervalMs }: Rhythm, dueMs: number, nowMs: number): number {
  return nextMultiple(anchorMs, intervalMs, Math.max(dueMs + intervalMs / 2, nowMs))
}

function nextMultiple(anchorMs: number, intervalMs: number, earliestMs: number): number {
  return anchorMs + Math.ceil((earliestMs - anchorMs) / intervalMs) * intervalMs
}

/** Multiples of this modulo one are spread as evenly as any sequence can be whose length is not known. */
const GOLDEN_FRACTION = (Math.sqrt(5) - 1) / 2
