/**
 * Keeps the heap of a collector as small as what is in it.
 *
 * Starting makes six times as much garbage as it keeps, and V8 gives a program that begins like this 60 MB of room, most of it for ever.
 * So V8 is asked to be thrifty until everything runs, and to keep the part of the heap where objects are young as small as it begins. There,
 * batches come and go at an even pace: room for more of them would only be filled before it is swept.
 *
 * What ran once at the start (checking a config is most of it) is forgotten then, and compiled again if it should be needed once more.
 *
 * While targets are learnt, in the first half minute or more, V8 stays thrifty: what dies then lies between what stays, and V8 closes such
 * gaps only where it is asked to mind its memory. And garbage is collected at once when it is time to: V8 would look for it little by
 * little, and what is learnt meanwhile makes as much again. The pauses are tens of milliseconds for a thousand targets.
 *
 * Nor are functions optimized before everything runs: what checks a config is huge and runs once, and each of V8's threads keeps the
 * memory that it took to compile some of it, 20 MB together.
 */
import type { Clock } from '../component.ts'

const { getHeapStatistics, setFlagsFromString } = process.getBuiltinModule('node:v8')

/** How much may be added to what is alive before the garbage in it is looked for. That is once in minutes, since most of it dies young. */
const GROWTH_PERCENT = 12
/** While targets are learnt it is no more than this, down to a part that would have V8 look for garbage all the time. */
const LEARNING_ROOM_BYTES = 6_000_000
const LEAST_GROWTH_PERCENT = 4
const ROOM_MS = 2000

/** Learning is over when the heap has not grown by more than a part of it in this time. */
const LEARNING_MS = 30_000
const LEARNING_GROWTH = 1.2

/** The compilers that make good code and need much memory for it. */
const OPTIMIZERS = ['maglev', 'turbofan']

/** Until targets are learnt: it costs a quarter more time. */
export function beginFrugalStart(): void {
  setFlagsFromString('--optimize-for-size')
  for (const compiler of OPTIMIZERS) setFlagsFromString(`--no-${compiler}`)
  // The part where objects are young stays as it begins, with two halves of 1 MB.
  setFlagsFromString('--semi-space-growth-factor=1')
  // Pages that are free are given back at once: by itself V8 holds them for eight seconds, and long arrays as long as it likes.
  setFlagsFromString('--no-memory-pool')
  setFlagsFromString('--no-large-page-pool')
}

/** Once. The returned function ends what it has begun. */
export function endFrugalStart(clock: Pick<Clock, 'after'>): () => void {
  const collect = garbageCollector()
  // By itself V8 forgets what has not run for several collections of the whole heap, and in a collector hours lie between those.
  setFlagsFromString('--stress-flush-code')
  collect()
  setFlagsFromString('--no-stress-flush-code')
  for (const compiler of OPTIMIZERS) setFlagsFromString(`--${compiler}`)
  // By itself V8 looks through the whole heap whenever a tenth has been added, because a collector is never in a hurry.
  setGrowth(GROWTH_PERCENT)
  // Several threads for so little cost more than they save.
  setFlagsFromString('--no-parallel-scavenge')
  setFlagsFromString('--no-incremental-marking')
  const cancelRoom = keepRoomSmall(clock)
  const cancel = whenLearnt(clock, () => {
    cancelRoom()
    setGrowth(GROWTH_PERCENT)
    setFlagsFromString('--no-optimize-for-size')
    setFlagsFromString('--incremental-marking')
  })
  return () => {
    cancelRoom()
    cancel()
  }
}

function setGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/** Room that is left in a heap that is large is a large room, and what is learnt last has the peak of memory. */
function keepRoomSmall(clock: Pick<Clock, 'after'>): () => void {
  let cancel = clock.after(ROOM_MS, look)
  function look(): void {
    const percent = Math.round((100 * LEARNING_ROOM_BYTES) / getHeapStatistics().used_heap_size)
    setGrowth(Math.min(GROWTH_PERCENT, Math.max(LEAST_GROWTH_PERCENT, percent)))
    cancel = clock.after(ROOM_MS, look)
  }
  return () => cancel()
}

/** The more targets there are, the longer it takes. */
function whenLearnt(clock: Pick<Clock, 'after'>, then: () => void): () => void {
  let usedBytes = getHeapStatistics().used_heap_size
  let cancel = clock.after(LEARNING_MS, look)
  function look(): void {
    const before = usedBytes
    usedBytes = getHeapStatistics().used_heap_size
    if (usedBytes < before * LEARNING_GROWTH) then()
    else cancel = clock.after(LEARNING_MS, look)
  }
  return () => cancel()
}

/** Without a flag at the start of the process it is only in contexts that are made after this one. */
function garbageCollector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc')
  return process.getBuiltinModule('node:vm').runInNewContext('gc') as NodeJS.GCFunction
}
