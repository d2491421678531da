/** Brings together who shows what there is when somebody asks, and who makes something of it at an interval. */
import type { Demand } from '../component.ts'

export function createDemand(): Demand {
  const answers = new Set<() => void>()
  return {
    ask() {
      for (const answer of answers) answer()
    },
    answer(run) {
      // One's own, since two may answer with the same function.
      const answer = (): void => run()
      answers.add(answer)
      return () => void answers.delete(answer)
    },
  }
}
