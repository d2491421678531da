/** Which kinds the API has, asked when somebody needs to know. Kinds come and go while we run. */
import type { KubernetesClient } from '../../pipeline/kubernetes/client.ts'
import type { ApiResource, ApiResources } from '../../pipeline/kubernetes/discovery.ts'
import { createBackOff, createRandom } from '../../pipeline/kubernetes/back-off.ts'
import { sleep } from '../../pipeline/clock/sleep.ts'

export type ApiKinds = {
  /** Undefined if there is no such kind. While the API does not answer, this goes on asking. Rejects when the signal is aborted. */
  find(group: string, kind: string): Promise<ApiResource | undefined>
  /** The kind is not where it was: who asks for it next is told what is true then. */
  forget(group: string, kind: string): void
}

const DELAYS = { firstMs: 1000, longestMs: 30_000 }

export function createApiKinds(client: KubernetesClient, signal: AbortSignal): ApiKinds {
  const { clock } = client.surroundings
  const backOff = createBackOff(createRandom(clock, 'discovery'), DELAYS.firstMs, DELAYS.longestMs)
  let resources: ApiResources | undefined
  let reading: Promise<ApiResources> | undefined
  const forgotten = new Set<string>()

  async function read(): Promise<ApiResources> {
    for (;;) {
      signal.throwIfAborted()
      try {
        resources = await client.discover(signal)
        forgotten.clear()
        backOff.reset()
        return resources
      } catch {
        // What is wrong with the API is said by whoever sends the requests.
        await sleep(clock, backOff.next(), signal)
      }
    }
  }

  return {
    async find(group, kind) {
      const known = forgotten.has(`${kind}.${group}`) ? undefined : resources?.byKind(group, kind)
      if (known !== undefined) return known
      // It may be younger than what is known of the API.
      reading ??= read().finally(() => (reading = undefined))
      return (await reading).byKind(group, kind)
    },
    forget: (group, kind) => void forgotten.add(`${kind}.${group}`),
  }
}
