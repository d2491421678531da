/** Failures of requests and listeners, in the words of whoever wrote the address into a config. */

export function refused(address: string, cause?: unknown): Error {
  return failure(`connection refused by ${address}`, cause)
}

export function timedOut(afterMs: number): Error {
  return new Error(`timed out after ${afterMs < 1000 ? `${afterMs}ms` : `${afterMs / 1000}s`}`)
}

export function inUse(address: string, cause?: unknown): Error {
  return failure(`${address} is in use by another process`, cause)
}

function failure(message: string, cause: unknown): Error {
  return new Error(message, cause === undefined ? undefined : { cause })
}
