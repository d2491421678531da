/** What exporters that push hand to delivery, and what becomes of it. */
import type { Batch, Source } from '../../pipeline/model/batch.ts'

/** One request: what is queued, kept on disk, sent and sent again. */
export type Payload = {
  /** As it is sent, compressed already. */
  readonly body: Uint8Array
  readonly points: number
  /** Payloads of one shard are sent one after the other, oldest first. Those without one may pass each other. */
  readonly shard?: number
  /** A few words that `send` needs to know of the body, such as its content type; kept on disk with it. */
  readonly note?: string
}

/** What a destination made of a payload. */
export type Sent =
  /** `rejectedPoints` were not taken and never will be; the destination says why. */
  | { readonly outcome: 'accepted'; readonly rejectedPoints?: number; readonly message?: string }
  /**
   * Not now. `afterMs` is what the destination asked for; `mayHaveArrived` where nobody knows whether it was taken; `atOnce` where the
   * next attempt sends something else, so that there is nothing to wait for.
   */
  | {
      readonly outcome: 'retry'
      readonly message: string
      readonly afterMs?: number
      readonly mayHaveArrived?: true
      readonly atOnce?: true
    }
  /** Never: it is dropped and counted. */
  | { readonly outcome: 'refused'; readonly message: string }

/** A request before it is compressed. */
export type Request = Pick<Payload, 'body' | 'points' | 'shard' | 'note'> & {
  /** The bytes stay as they are, and the encoder writes into other memory instead. */
  readonly keep?: (instead: ArrayBuffer) => void
}

/**
 * Makes requests of batches. What it remembers of series (label bytes, the values before) it keeps by source and layout; it copies
 * numbers out of a batch at once. A request that reaches its limits is given to `emit` at once, the others at `flush`.
 */
export type Encoder = {
  add(batch: Batch): void
  /** Instead of `add`, about as much as a request takes. False if there is more of it, which has to come next. */
  addPart?(batch: Batch): boolean
  /** Whether anything is remembered of a source. Of one of which nothing is, a batch without series says nothing. */
  knows?(source: Source): boolean
  /** Gives what is begun to `emit`. */
  flush(): void
  /** Points in requests that are begun and not yet given. */
  readonly pendingPoints: number
}

/** Takes what it needs of the bytes before it returns, or keeps them: the encoder may write into them again. */
export type Emit = (request: Request) => void
