/** Targets from objects of the Kubernetes API, which are watched. */
import type { Host } from '../../../pipeline/component.ts'
import type { ApiObject } from '../../../pipeline/kubernetes/api-object.ts'
import { createKubernetesClient, type KubernetesClient } from '../../../pipeline/kubernetes/client.ts'
import { createKubernetesCredentials } from '../../../pipeline/kubernetes/credentials.ts'
import { watchResource, type ResourceWatch, type WatchedResource } from '../../../pipeline/kubernetes/watch.ts'
import { keepKnown, type DiscoveredTarget, type Discovery } from './discovery.ts'

export type KubernetesDiscoveryConfig = {
  readonly kubeconfig: string
  readonly context?: string
  readonly namespaces?: readonly string[]
  readonly label_selector?: string
  readonly field_selector?: string
}

export type KubernetesDiscoveryOptions = Pick<WatchedResource<unknown>, 'group' | 'version' | 'resource'> & {
  /** The targets that an object stands for: none, one, or several. */
  targetsOf(object: ApiObject, client: KubernetesClient): readonly DiscoveredTarget[]
}

type Targets = readonly DiscoveredTarget[]

/** Where hundreds of objects change every second, looking at all targets for each of them would cost more than scraping them. */
const CALM_MS = 1000

export function createKubernetesDiscovery(
  config: KubernetesDiscoveryConfig,
  { targetsOf, ...resource }: KubernetesDiscoveryOptions,
  { network, clock, log, counters }: Pick<Host, 'network' | 'clock' | 'log' | 'counters'>,
): Discovery {
  const { kubeconfig, context, namespaces = [], label_selector, field_selector } = config
  const credentials = createKubernetesCredentials({ kubeconfig, ...(context !== undefined && { context }), clock })
  const watches: ResourceWatch<Targets>[] = []
  let cancelUpdate: (() => void) | undefined
  let updatedMs = -Infinity

  return {
    start(update) {
      const client = createKubernetesClient({ credentials, network, clock, log, counters })
      const changed = (): void => {
        // A part of the targets is no news while the rest is being read.
        if (cancelUpdate !== undefined || watches.some(watch => watch.state() === 'starting')) return
        cancelUpdate = clock.after(Math.max(0, updatedMs + CALM_MS - clock.monotonic()), () => {
          cancelUpdate = undefined
          updatedMs = clock.monotonic()
          update(watches.flatMap(watch => [...watch.values()].flat()))
        })
      }
      const watched: WatchedResource<Targets> = {
        ...resource,
        ...(label_selector !== undefined && { labelSelector: label_selector }),
        ...(field_selector !== undefined && { fieldSelector: field_selector }),
        keep(object) {
          const targets = targetsOf(object, client)
          return targets.length === 0 ? undefined : targets
        },
        isSame: (targets, before) => keepKnown(before, targets) === before,
      }
      const handler = { added: changed, changed, removed: changed, synced: changed, unavailable: changed }
      const places = namespaces.length === 0 ? [{}] : namespaces.map(namespace => ({ namespace }))
      for (const place of places) watches.push(watchResource(client, { ...watched, ...place }, handler))
    },
    stop() {
      cancelUpdate?.()
      for (const watch of watches.splice(0)) watch.stop()
    },
  }
}
