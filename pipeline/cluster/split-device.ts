/** Divides a device among those who have a claim to it. */
import { sharedWithLast } from '../model/shared.ts'
import type { Holding } from './assignment.ts'

/** One who has the device, alone or with others. `share` is what it asks for, where it asks for a part. */
export type Claim = Omit<Holding, 'share'> & {
  readonly replicas: number | undefined
  readonly share?: number | undefined
}

/** What is smaller is rounding, and nobody's part. */
const NOTHING = 1e-9

/** `replicas` is how many the device has, where that is known. Added up in this order, shares and rest are exactly 1. */
export function splitDevice(
  claims: readonly Claim[],
  replicas: number | undefined,
): { readonly holdings: readonly Holding[]; readonly rest: number } {
  const asked = claims.map(claim => claim.share ?? shareByReplicas(claim, claims, replicas))
  const total = sum(asked)
  const shares = total > 1 ? asked.map(share => share / total) : asked
  const isFull = 1 - sum(shares) < NOTHING && shares.length > 0
  // Thirds do not add up to 1 in every order; the last takes what rounding left over.
  if (isFull && sum(shares) !== 1) shares[shares.length - 1] = 1 - sum(shares.slice(0, -1))
  const holdings = claims.map(({ pod, job, because }, i) => ({
    pod,
    job,
    share: shares[i]!,
    because: told(because, i),
  }))
  return { holdings: sharedHoldings(holdings), rest: isFull ? 0 : 1 - sum(shares) }

  function told(because: string, i: number): string {
    const { share, replicas: held } = claims[i]!
    if (share === undefined && held !== undefined) return `${because}, with ${held} of its replicas`
    return total > 1 ? `${because}; more is asked for than there is` : because
  }
}

/** A pod mostly has all of each of its devices. */
const sharedHoldings = sharedWithLast<readonly Holding[]>(
  (some, others) => some.length === others.length && some.every((one, i) => isSameHolding(one, others[i]!)),
)

function isSameHolding(one: Holding, other: Holding): boolean {
  return (
    one.job === other.job &&
    one.share === other.share &&
    one.because === other.because &&
    one.pod?.pod === other.pod?.pod &&
    one.pod?.from === other.pod?.from &&
    one.pod?.isGone === other.pod?.isGone
  )
}

/** Where nobody tells how much each has, all have the same, as jobs do. Who is named has one replica at least. */
function shareByReplicas({ replicas: held }: Claim, claims: readonly Claim[], count: number | undefined): number {
  const isTold = count !== undefined || claims.some(claim => claim.replicas !== undefined)
  if (!isTold || claims.some(({ job }) => job !== undefined)) return 1 / claims.length
  const all = sum(claims.map(claim => claim.replicas ?? 1))
  return (held ?? 1) / Math.max(count ?? 0, all)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
