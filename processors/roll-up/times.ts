/** A moment that moves on, in milliseconds since 1970: one object, so that whoever has it need not look it up. On disk it is its number. */
export class Time {
  ms: number

  constructor(ms: number) {
    this.ms = ms
  }

  toJSON(): number {
    return this.ms
  }
}

/** Times by place. */
export type Times = {
  /** NaN if there is none. */
  at(place: number): number
  later(place: number, timeMs: number): void
}
