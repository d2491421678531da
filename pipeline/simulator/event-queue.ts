/** What is still to happen, in order of time; things of one moment happen in the order in which they were planned. */

type Event = { readonly timeMs: number; readonly order: number; readonly run: (timeMs: number) => void }

export class EventQueue {
  /** A binary heap: no event is later than the two below it. */
  #heap: Event[] = []
  #planned = 0

  get size(): number {
    return this.#heap.length
  }

  plan(timeMs: number, run: (timeMs: number) => void): void {
    const event = { timeMs, order: this.#planned++, run }
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(event, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = event
  }

  /** Lets everything happen that is due by then, also what is planned on the way. */
  runUntil(timeMs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.timeMs <= timeMs; next = this.#heap[0]) {
      this.#removeFirst()
      next.run(next.timeMs)
    }
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (!isBefore(heap[below]!, last)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order)
}
