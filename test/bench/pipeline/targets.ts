/**
 * The targets of the whole-path benchmark and the Kubernetes API of their cluster, as a process of its own: `targets.ts COUNT`.
 *
 * Target n is at 127.(n / 250).(n % 250 + 1) and answers in chunks, as dcgm-exporter does. The path says who asks, and `/served` how
 * many answers each has had. Prints its port and the port of the API.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { createObjectStore } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { serveKubernetesApi } from '../../../pipeline/simulator/kubernetes-api/serve.ts'
import { kubernetesObjects, nodePayload } from './cluster.ts'

const count = Number(process.argv[2])
const served: Record<string, number> = {}
let scrapes = 0

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  const path = request.url!
  if (path === '/served') return void response.end(JSON.stringify(served))
  const [, , high, low] = request.socket.localAddress!.split('.').map(Number)
  response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.write(nodePayload(high! * 250 + low! - 1, scrapes++))
  response.end(() => (served[path] = (served[path] ?? 0) + 1))
})
const clock = createSystemClock()
const store = createObjectStore()
store.replaceAll(kubernetesObjects(count))
const api = await serveKubernetesApi(store, createNetwork(clock), '127.0.0.1:0', { clock, builtIn: true })
server.listen(0, '0.0.0.0', 1024, () =>
  console.log(`${(server.address() as AddressInfo).port} ${api.address.split(':')[1]}`),
)
