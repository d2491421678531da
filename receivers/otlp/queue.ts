/** Lets tasks that work on the same data have it one after the other, however many turns each takes. */
export type Queue = <T>(task: () => T | Promise<T>) => Promise<T>

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve()
  return task => {
    const done = last.then(task)
    last = done.catch(() => {})
    return done
  }
}
