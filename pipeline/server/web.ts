/** What people and programs ask of the running service over HTTP. A new page is one row in `routes`. */
import { explainPod } from '../cluster/explain-pod.ts'
import { defineExtension, type Cluster, type ConfigSchema, type ServiceView } from '../component.ts'
import { endpoint } from '../config/fields.ts'
import { explainJson, explainStatus, explainText } from './explain-page.ts'
import { escapeHtml, page } from './html.ts'
import { html, json, text, type Handler, type Reply, type Route } from './router.ts'
import { serve } from './serve.ts'
import { targetsHtml, targetsJson } from './targets-page.ts'

const config = {
  type: 'object',
  properties: { endpoint: endpoint('Address to listen at.', '127.0.0.1:8080') },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const web = defineExtension({
  type: 'web',
  summary: 'Serves what there is to see and do while gpucol runs.',
  config,
  example: { endpoint: '127.0.0.1:8080' },
  listens: ({ endpoint }) => [{ address: endpoint, path: ['endpoint'] }],

  create({ endpoint }, host) {
    const stopping = Promise.withResolvers<Reply>()
    const routes: readonly Route[] = [
      {
        method: 'GET',
        path: '/',
        about: 'this page',
        handle: () => html(200, indexPage(host.service.version, routes)),
      },
      {
        method: 'GET',
        path: '/targets',
        about: 'what is scraped and how that goes; JSON unless a browser asks',
        handle: ({ headers }) => {
          const targets = host.service.targets()
          return prefersHtml(headers.accept) ? html(200, targetsHtml(targets)) : json(200, targetsJson(targets))
        },
      },
      {
        method: 'GET',
        path: '/explain',
        about: 'how a pod came to its labels: ?pod=NAME&namespace=NAME; JSON unless text is asked for',
        handle: ({ headers }, _, { searchParams }) => {
          const wantsText = prefersText(headers.accept)
          return explained(host.service, host.cluster, searchParams, wantsText)
        },
      },
      {
        method: 'POST',
        path: '/-/reload',
        about: 'reads the configuration again',
        handle: reload(host.service, stopping.promise),
      },
    ]
    const server = serve(host, endpoint, routes)
    return {
      ...server,
      stop(deadlineMs) {
        stopping.resolve(text(202, 'reloading; this server stops meanwhile, the log has the result'))
        return server.stop(deadlineMs)
      },
    }
  },
})

function explained(service: ServiceView, cluster: Cluster, query: URLSearchParams, wantsText: boolean): Reply {
  const pod = query.get('pod')
  if (pod === null || pod === '') return text(400, 'say which pod: /explain?pod=NAME&namespace=NAME')
  const explanation = explainPod(cluster, pod, query.get('namespace') || undefined)
  const pipelinesOf = (id: string): string[] =>
    service.components().flatMap(one => (one.kind === 'processor' && one.id === id ? (one.pipeline ?? []) : []))
  const status = explainStatus(explanation)
  return wantsText
    ? text(status, explainText(explanation, pipelinesOf))
    : json(status, explainJson(explanation, pipelinesOf))
}

/** Reloads that are asked for at the same time come one after the other: the service sees to that. */
function reload(service: ServiceView, stopping: Promise<Reply>): Handler {
  // A reload can replace this very server, and then waits for its open requests: this one must not wait for the reload.
  return () => Promise.race([reloaded(service), stopping])
}

async function reloaded(service: ServiceView): Promise<Reply> {
  try {
    const result = await service.reload()
    return result.ok ? json(200, { status: 'reloaded', changed: result.changed }) : text(400, result.error)
  } catch (error) {
    return text(500, `the reload failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function indexPage(version: string, routes: readonly Route[]): string {
  const rows = routes.map(({ method, path, about }) => {
    const name =
      method === 'GET' ? `<a href="${escapeHtml(path)}">${escapeHtml(path)}</a>` : `${method} ${escapeHtml(path)}`
    return `<li>${name}: ${escapeHtml(about)}</li>`
  })
  return page('gpucol', [`<h1>gpucol ${escapeHtml(version)}</h1>`, '<ul>', ...rows, '</ul>'])
}

/** Browsers name HTML first; programs ask for JSON or for anything. */
function prefersHtml(accept = ''): boolean {
  const html = accept.indexOf('text/html')
  const json = accept.indexOf('application/json')
  return html >= 0 && (json < 0 || html < json)
}

function prefersText(accept = ''): boolean {
  return accept.startsWith('text/')
}
