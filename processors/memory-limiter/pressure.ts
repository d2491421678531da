/** Whether memory is short, with a distance between the limits where that begins and where it ends. */
import type { MemoryUse } from '../../pipeline/component.ts'
import type { Threshold } from './thresholds.ts'

export type Pressure = 'none' | 'soft' | 'hard'

export type Thresholds = { readonly hard: Threshold; readonly soft: Threshold; readonly resume: Threshold }

/** Above the hard limit it is hard until it is below the soft one; above that it is soft until it is below `resume`. */
export function pressureAfter(before: Pressure, use: MemoryUse, { hard, soft, resume }: Thresholds): Pressure {
  if (hard.isReached(use)) return 'hard'
  if (soft.isReached(use)) return before === 'hard' ? 'hard' : 'soft'
  return before !== 'none' && resume.isReached(use) ? 'soft' : 'none'
}
