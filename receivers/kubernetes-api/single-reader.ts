/** Reads owners one by one: those of kinds that may not be listed, and those that a watch has not told of. */
import { keepMetadata } from '../../pipeline/cluster/keep-metadata.ts'
import { ApiError } from '../../pipeline/kubernetes/api-error.ts'
import type { KubernetesClient } from '../../pipeline/kubernetes/client.ts'
import type { ApiResource } from '../../pipeline/kubernetes/discovery.ts'
import { objectPath } from '../../pipeline/kubernetes/resource-path.ts'
import type { Owners, Wanted } from './owners.ts'

export type SingleReader = {
  /** Asks for it after a delay, unless it is asked for already. */
  ask(wanted: Wanted, resource: ApiResource, delayMs: number): void
  forget(uid: string): void
  stop(): void
}

const AT_ONCE = 4
/** What cannot be read is tried again, rarely; what was read may have changed. */
const AGAIN_MS = 300_000
/** After a failure that says nothing of the owner. */
const AFTER_FAILURE_MS = 5000

type Request = Wanted & { readonly resource: ApiResource; cancel: () => void }

/** `mayChange` says whether nobody else will tell of changes, so that an owner has to be read again. */
export function createSingleReader(
  client: KubernetesClient,
  found: Owners['found'],
  mayChange: () => boolean,
): SingleReader {
  const { clock } = client.surroundings
  const requests = new Map<string, Request>()
  const due: Request[] = []
  // By namespace: who may not read one owner may not read the others either.
  const refusedUntilMs = new Map<string, number>()
  const stopping = new AbortController()
  let running = 0

  function plan(request: Request, delayMs: number): void {
    request.cancel = clock.after(delayMs, () => {
      due.push(request)
      run()
    })
  }

  function run(): void {
    while (running < AT_ONCE) {
      const request = due.shift()
      if (request === undefined) return
      if (requests.get(request.reference.uid) !== request) continue
      running++
      void read(request).finally(() => {
        running--
        run()
      })
    }
  }

  async function read(request: Request): Promise<void> {
    const { reference, namespace, resource } = request
    let againMs = AGAIN_MS
    let isRead = false
    try {
      isRead = await readOwner(request)
    } catch (error) {
      if (stopping.signal.aborted) return
      const status = error instanceof ApiError ? error.status : 0
      if (status === 403) refusedUntilMs.set(namespace, clock.monotonic() + AGAIN_MS)
      if (status !== 403 && status !== 404) againMs = AFTER_FAILURE_MS
    }
    if (requests.get(reference.uid) !== request) return
    requests.delete(reference.uid)
    if (!isRead && againMs === AGAIN_MS) found(reference.uid, 'unreadable')
    if (mayChange() || againMs === AFTER_FAILURE_MS) reader.ask(request, resource, againMs)
  }

  /** Whether it is there: an object of its name with another uid is another object. */
  async function readOwner({ reference, namespace, resource }: Request): Promise<boolean> {
    if ((refusedUntilMs.get(namespace) ?? 0) > clock.monotonic()) return false
    const { group, kind, version, namespaced } = resource
    const place = { group, version, resource: resource.resource, ...(namespaced && { namespace }) }
    const path = objectPath(place, reference.name)
    const owner = keepMetadata(await client.get(path, { metadataOnly: true, signal: stopping.signal }), { group, kind })
    if (owner.uid !== reference.uid) return false
    found(owner.uid, owner)
    return true
  }

  const reader: SingleReader = {
    ask({ reference, namespace }, resource, delayMs) {
      if (stopping.signal.aborted || requests.has(reference.uid)) return
      const request: Request = { reference, namespace, resource, cancel: () => {} }
      requests.set(reference.uid, request)
      plan(request, delayMs)
    },
    forget(uid) {
      requests.get(uid)?.cancel()
      requests.delete(uid)
    },
    stop() {
      stopping.abort(new Error('stopped'))
      for (const { cancel } of requests.values()) cancel()
      requests.clear()
    },
  }
  return reader
}
