/** Times functions against each other in one run: machines are noisy, so what counts is the ratio. */

/** CPU nanoseconds per unit, the median of several rounds that take turns, so that a slow spell hits all alike. */
export function measure(
  unitsPerCall: number,
  functions: Record<string, () => unknown>,
  rounds = 9,
  /** Runs before each and is not measured. */
  prepare = () => {},
): Map<string, number> {
  const results = new Map(Object.keys(functions).map(name => [name, [] as number[]]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(functions)) {
      const calls = callsFor(run)
      prepare()
      const before = process.cpuUsage()
      for (let i = 0; i < calls; i++) run()
      const { user, system } = process.cpuUsage(before)
      // The first round warms up.
      if (round >= 0) results.get(name)!.push(((user + system) * 1000) / calls / unitsPerCall)
    }
  }
  return new Map(Array.from(results, ([name, times]) => [name, median(times)]))
}

/** Enough calls for 20 ms, so that the clock's grain does not matter. */
function callsFor(run: () => unknown): number {
  const start = process.hrtime.bigint()
  run()
  const ms = Number(process.hrtime.bigint() - start) / 1e6
  return Math.max(1, Math.ceil(20 / Math.max(ms, 0.001)))
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

export function print(what: string, value: number, unit: string): void {
  console.log(`${what}: ${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`)
}
