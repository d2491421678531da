/** Reaches a node through the API server's proxy, for whoever is let in by the API and by no kubelet. */
import type { Network } from '../../../pipeline/component.ts'
import type { KubernetesAccess } from '../../../pipeline/kubernetes/access.ts'
import type { KubernetesClient } from '../../../pipeline/kubernetes/client.ts'
import { missingRule } from '../../../pipeline/kubernetes/missing-rule.ts'

/**
 * A network on which every URL is a page behind `path` of the API: of the URL only path and query count. Requests have the
 * credentials of the API, and nothing that was meant for the target itself.
 */
export function apiServerProxy(client: KubernetesClient, network: Network, path: string): Network {
  const { clock } = client.surroundings
  return {
    ...network,
    request(request, handler) {
      const deadlineMs = clock.monotonic() + request.timeoutMs
      // To find out who we are may take as long as anything else: a program may have to be asked.
      let cancel = clock.after(request.timeoutMs, () => {
        fail(new Error(`there are no credentials for the Kubernetes API within ${request.timeoutMs / 1000}s`))
      })
      let isOver = false

      function fail(error: Error): void {
        if (isOver) return
        isOver = true
        handler.failed(error)
      }

      function send(access: KubernetesAccess): void {
        if (isOver) return
        cancel()
        const { server, headers, ...way } = access
        const { pathname, search } = new URL(request.url)
        const { authorization: _, ...others } = request.headers ?? {}
        cancel = network.request(
          {
            url: `${server}${path}${pathname}${search}`,
            headers: { ...others, ...headers },
            timeoutMs: Math.max(1, deadlineMs - clock.monotonic()),
            ...way,
          },
          {
            head(status, itsHeaders) {
              if (status === 401) client.refused(access)
              if (status === 403) throw new Error(missingRule(PROXY, 'get', ''))
              handler.head(status, itsHeaders)
            },
            chunk: bytes => handler.chunk(bytes),
            end: () => handler.end(),
            failed: error => handler.failed(error),
          },
        )
      }

      client.access().then(send, (error: unknown) => {
        cancel()
        fail(error as Error)
      })
      return () => {
        isOver = true
        cancel()
      }
    },
  }
}

const PROXY = { group: '', version: 'v1', resource: 'nodes/proxy' }
