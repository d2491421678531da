/** Addresses of pods. */
import type { Random } from './random.ts'

export function podIpOf(random: Random): string {
  return `10.${128 + random.below(64)}.${random.below(256)}.${1 + random.below(254)}`
}
