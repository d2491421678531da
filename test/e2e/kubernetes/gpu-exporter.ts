/** An HTTP server that answers as dcgm-exporter on a node does, with one GPU for each pod that it is told of. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type GpuExporter = {
  readonly url: string
  /** Names of the pods that have a GPU from now on, and one that nobody has. */
  show(pods: readonly string[]): void
  stop(): Promise<void>
}

export async function startGpuExporter(node: string, namespace: string): Promise<GpuExporter> {
  let shown: readonly string[] = []
  const server = createServer((_request, response) => {
    const rows = [...shown, ''].map((pod, gpu) => {
      const holder = pod === '' ? '' : `,container="main",namespace="${namespace}",pod="${pod}"`
      return `DCGM_FI_DEV_GPU_UTIL{gpu="${gpu}",UUID="GPU-${gpu}",device="nvidia${gpu}",modelName="NVIDIA H100",Hostname="${node}"${holder}} ${10 + gpu}\n`
    })
    response.setHeader('content-type', 'text/plain; version=0.0.4')
    response.end(`# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n${rows.join('')}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    show(pods) {
      shown = pods
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
