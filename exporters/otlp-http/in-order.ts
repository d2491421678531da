/**
 * Encoders side by side, one for each shard, for destinations that refuse a point that is older than the last one of its series. All
 * points of a source go to the same shard, also after a restart, and a shard is sent one request after the other, oldest first.
 */
import type { Source } from '../../pipeline/model/batch.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { hashString } from '../../pipeline/model/intern.ts'
import type { Encoder, Payload, Sent } from '../delivery/payload.ts'

/** Several, so that the way to the destination and back is not all that is waited for. */
export const SHARDS = 4

export function createInOrder(create: (shard: NonNullable<Payload['shard']>) => Required<Encoder>): Required<Encoder> {
  const encoders = Array.from({ length: SHARDS }, (_, shard) => create(shard))
  return {
    add(batch) {
      encoders[shardOf(batch.source)]!.add(batch)
    },
    addPart: batch => encoders[shardOf(batch.source)]!.addPart(batch),
    knows: source => encoders[shardOf(source)]!.knows(source),
    flush() {
      for (const encoder of encoders) encoder.flush()
    },
    get pendingPoints() {
      return encoders.reduce((sum, { pendingPoints }) => sum + pendingPoints, 0)
    },
  }
}

/** By job and instance where there are any: a receiver makes series of its own of these (`target_info`), which have an order, too. */
function shardOf({ component, name, labels }: Source): number {
  const job = getLabel(labels, 'job') ?? ''
  const instance = getLabel(labels, 'instance') ?? ''
  const hash =
    job === '' && instance === '' ? hashString(name, hashString(component)) : hashString(instance, hashString(job))
  return (hash >>> 0) % SHARDS
}

/** Says what helps, where a destination refuses points for their order. */
export function withHint(sent: Sent): Sent {
  if (sent.outcome !== 'refused' || !/out[ -]of[ -]order/i.test(sent.message)) return sent
  return { ...sent, message: `${sent.message} (with \`in_order: true\` points are sent in order)` }
}
