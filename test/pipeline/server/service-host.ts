/** The host of an extension that serves real HTTP on loopback, and the service that it sees. */
import type { ExtensionHost, Network, ServiceView } from '../../../pipeline/component.ts'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { TEST_START_MS, testHost, type TestHost } from '../../support/test-host.ts'

/** `addresses` has the true address of everything that listens. */
export function serviceHost(
  service: Partial<ServiceView>,
): ExtensionHost & Pick<TestHost, 'clock' | 'logged'> & { readonly addresses: readonly string[] } {
  const clock = createVirtualClock(TEST_START_MS)
  const network = createNetwork(clock)
  const addresses: string[] = []
  const remembering: Network = {
    ...network,
    async listen(...parameters) {
      const listener = await network.listen(...parameters)
      addresses.push(listener.address)
      return listener
    },
  }
  return {
    ...testHost({ clock, network: remembering }),
    addresses,
    service: {
      version: '1.2.3',
      state: () => 'running',
      components: () => [],
      targets: () => new Map(),
      reload: () => Promise.resolve({ ok: true, changed: [] }),
      ...service,
    },
  }
}
