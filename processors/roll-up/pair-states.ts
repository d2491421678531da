/** What is kept of each pair beside when it was busy, by its place: columns, since all of them are looked at with every flush. */
import { roomFor } from './room.ts'

export class PairStates {
  /** When the pair began, and when it was last busy; NaN while that is not known. */
  sinceMs = new Float64Array(0)
  activeMs = new Float64Array(0)
  /** Whether it had a reading of its own when it was last looked at. */
  hadOwn = new Uint8Array(0)
  /** Whose times they are: the places of the pod, or of the job, and of the workload. */
  isJob = new Uint8Array(0)
  holder = new Int32Array(0)
  workload = new Int32Array(0)

  /** A pair has begun, perhaps at the place of another that is gone. What is known of one stays, whichever record tells of it. */
  begin(place: number): void {
    if (place >= this.sinceMs.length) return
    this.sinceMs[place] = NaN
    this.activeMs[place] = NaN
    this.hadOwn[place] = 0
  }

  grow(length: number): void {
    if (length <= this.sinceMs.length) return
    const known = this.sinceMs.length
    this.sinceMs = roomFor(this.sinceMs, length).fill(NaN, known)
    this.activeMs = roomFor(this.activeMs, length).fill(NaN, known)
    this.hadOwn = roomFor(this.hadOwn, length)
    this.isJob = roomFor(this.isJob, length)
    this.holder = roomFor(this.holder, length)
    this.workload = roomFor(this.workload, length)
  }
}
