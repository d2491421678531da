/**
 * The label sets of a target, by number of the label block.
 *
 * The blocks have all that label sets are made of, and while nothing changes nobody asks for them: what processors made of them is what
 * goes on. So they are held for as long as somebody uses the list of them, and made again of the blocks when somebody asks.
 */
import { labelsFrom, type Labels } from '../model/labels.ts'
import type { LabelList } from '../model/layout.ts'
import { blocksOf } from './expected-lines.ts'
import type { KnownLines } from './known-lines.ts'
import { decodeLabels } from './label-block.ts'
import { createSampleLine, readSampleLine } from './sample-line.ts'

/** Makes the label set of what is written in a block. */
export type LabelMaker = { makeLabels(exposed: ReadonlyMap<string, string>): Labels }

/** Of sources that have more there are few, and making all of them for a series that is new would take long. */
const MOST_MADE_AGAIN = 1024

export class BlockLabels implements LabelList {
  #held: readonly Labels[] | WeakRef<readonly Labels[]>
  readonly #maker: LabelMaker
  /** Whose blocks they are, if they are to be made again. */
  #known: KnownLines | undefined

  constructor(list: readonly Labels[], maker: LabelMaker) {
    this.#held = list
    this.#maker = maker
  }

  get list(): readonly Labels[] {
    const held = this.#held
    if (!(held instanceof WeakRef)) return held
    return held.deref() ?? this.#makeAgain(this.#known!)
  }

  /** From now on the list is held for as long as somebody uses it. */
  madeFrom(known: KnownLines): void {
    const { list } = this
    if (list.length === 0 || list.length > MOST_MADE_AGAIN) return
    this.#known = known
    this.#held = new WeakRef(list)
  }

  #makeAgain(known: KnownLines): readonly Labels[] {
    const { bytes, starts, count } = blocksOf(known)
    const { dialect } = known.shape
    const list = Array.from({ length: count }, (_, block) =>
      this.#maker.makeLabels(exposedBy(bytes.subarray(starts[block], starts[block + 1]), dialect)),
    )
    this.#held = new WeakRef(list)
    return list
  }
}

export const NO_LABELS = new BlockLabels([], { makeLabels: labelsFrom })

const NAME = 'x'.charCodeAt(0)
const BLANK = ' '.charCodeAt(0)
const VALUE = '0'.charCodeAt(0)
const line = createSampleLine()

/** It was in a line once, so it is read as in a line: behind a name, unless that is in the block, and with a value behind it. */
function exposedBy(block: Uint8Array, dialect: KnownLines['shape']['dialect']): ReadonlyMap<string, string> {
  const bytes = Uint8Array.of(NAME, ...block, BLANK, VALUE)
  const problem =
    readSampleLine(bytes, 0, bytes.length, dialect, line) && readSampleLine(bytes, 1, bytes.length, dialect, line)
  const decoded = problem ?? decodeLabels(bytes, line.labels)
  if (typeof decoded === 'string') throw new Error(`a label block cannot be read again: ${decoded}`)
  return decoded.labels
}
