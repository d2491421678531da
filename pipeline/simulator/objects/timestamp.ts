/** A moment as Kubernetes writes it: no fractions of a second. */
export function timestamp(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`
}
