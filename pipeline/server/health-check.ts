/** Tells Kubernetes, load balancers and people whether gpucol lives and whether it works. */
import { defineExtension, type ConfigSchema, type ServiceState } from '../component.ts'
import { endpoint } from '../config/fields.ts'
import { json, type Reply } from './router.ts'
import { serve } from './serve.ts'

const config = {
  type: 'object',
  properties: { endpoint: endpoint('Address to listen at.', '127.0.0.1:13133') },
  additionalProperties: false,
} as const satisfies ConfigSchema

export const healthCheck = defineExtension({
  type: 'health_check',
  summary: 'Answers health and readiness probes.',
  config,
  example: { endpoint: '127.0.0.1:13133' },
  listens: ({ endpoint }) => [{ address: endpoint, path: ['endpoint'] }],

  create({ endpoint }, host) {
    const { service, clock } = host
    const startMs = clock.monotonic()

    function about() {
      return { version: service.version, uptime_seconds: (clock.monotonic() - startMs) / 1000 }
    }

    // Whoever can answer lives. A restart helps nobody whose target or destination is down, so components have no say here.
    function health(): Reply {
      return json(200, { status: 'ok', ...about() })
    }

    function readiness(): Reply {
      const state = service.state()
      const components = service.components()
      if (state === 'running') return json(200, { status: 'ready', ...about(), components })
      return json(503, { status: 'not ready', reason: REASONS[state], ...about(), components })
    }

    return serve(host, endpoint, [
      { method: 'GET', path: '/', about: 'the same as /healthz', handle: health },
      { method: 'GET', path: '/healthz', about: 'whether the process works', handle: health },
      { method: 'GET', path: '/readyz', about: 'whether all components run', handle: readiness },
    ])
  },
})

const REASONS: Record<Exclude<ServiceState, 'running'>, string> = {
  starting: 'gpucol is starting',
  stopping: 'gpucol is stopping',
  stopped: 'gpucol has stopped',
}
