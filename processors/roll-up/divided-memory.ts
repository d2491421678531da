/**
 * How the memory of a shared GPU is divided where readings of single pods are missing: who has a reading has that, and what is left is
 * divided by the shares of the others. All of it together is what is used, never more.
 */

/** What is known by readings of pods, and the shares of these pods. */
export type Measured = { readonly used: number; readonly share: number }

/** What is smaller is rounding. */
const NOTHING = 1e-9

/** What one of those without a reading has, or nobody, by share. Where everybody has a reading, all that is left is nobody's. */
export function divided(total: number, { used, share }: Measured, its: number): number {
  const left = Math.max(0, total - used)
  const others = 1 - share
  return others < NOTHING ? left : (left * its) / others
}
