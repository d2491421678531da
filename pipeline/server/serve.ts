/** The life of an extension that is a table of routes at an address. */
import type { Extension, Host, Listener } from '../component.ts'
import { createRouter, type Route } from './router.ts'

export function serve(host: Host, endpoint: string, routes: readonly Route[]): Required<Extension> {
  let listener: Listener | undefined
  return {
    async start() {
      listener = await host.network.listen(endpoint, createRouter(routes, host))
    },
    async stop(deadlineMs) {
      const closing = listener
      listener = undefined
      await closing?.close(deadlineMs)
    },
    describe: () => `http://${listener?.address ?? endpoint}`,
  }
}
