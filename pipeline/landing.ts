/**
 * The memory that what sockets receive lands in, and in which it is read: WebAssembly reaches only memory of its own, so bytes that are
 * there already need not be copied.
 *
 * It has a fixed size, because what lies in it would move if it grew, under the hands of sockets that are reading. Pages that nobody
 * touches are not there.
 */

/** What there is of WebAssembly in Node, as far as it is used here: its types belong to browsers. */
type WebAssemblyParts = {
  readonly Memory: new (limits: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer }
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: Record<string, unknown> }
  readonly validate: (bytes: Uint8Array) => boolean
}

/** Undefined where Node runs without (`--jitless`). */
const webAssembly = (globalThis as { WebAssembly?: WebAssemblyParts }).WebAssembly

const PAGE_BYTES = 64 * 1024
/** Large enough for the whole scrape of a node, so that it arrives in one piece. */
export const LANDING_BYTES = 256 * 1024
/** Before the landing, for what else WebAssembly must be able to see. */
export const WORKING_BYTES = 4 * 1024 * 1024

export const LANDING_PAGES = (WORKING_BYTES + LANDING_BYTES) / PAGE_BYTES
const memory = webAssembly && new webAssembly.Memory({ initial: LANDING_PAGES, maximum: LANDING_PAGES })

/** The whole memory; without WebAssembly just a buffer. */
export const landingMemory: ArrayBuffer = memory?.buffer ?? new ArrayBuffer(WORKING_BYTES + LANDING_BYTES)

/** All sockets may read into this, one after the other. */
export const landing = Buffer.from(landingMemory, WORKING_BYTES, LANDING_BYTES)

/** What a module exports, which imports this memory as `memory.memory`; undefined where it cannot be run. */
export function runInLanding(module: Uint8Array): Record<string, unknown> | undefined {
  // Not where the processor cannot compare sixteen bytes at a time.
  if (webAssembly === undefined || !webAssembly.validate(module)) return undefined
  return new webAssembly.Instance(new webAssembly.Module(module), { memory: { memory } }).exports
}
