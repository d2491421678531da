/** The exporter `prometheus`, listening for real and living on the virtual clock. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { prometheus } from '../../exporters/prometheus.ts'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import type { Exporter } from '../../pipeline/component.ts'
import { validatorFor } from '../../pipeline/config/validator.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { ask } from './ask.ts'
import { testHost, type TestHost } from './test-host.ts'

export type ServedConfig = Parameters<typeof prometheus.create>[0]

export function configOf(options: Partial<ServedConfig>): ServedConfig {
  const config = { endpoint: '127.0.0.1:0', ...options }
  assert.deepEqual(validatorFor(prometheus.config)(config), [])
  return config as ServedConfig
}

/** Runs on the virtual clock, and listens for real. */
export async function serving(options: Partial<ServedConfig>, use: (served: Served) => Promise<void>): Promise<void> {
  const network = createNetwork(createSystemClock())
  const responses: ServerResponse[] = []
  let address = ''
  const host = testHost({
    network: {
      ...network,
      async listen(...[endpoint, handle, listenOptions]: Parameters<typeof network.listen>) {
        const respond: typeof handle = (received, response) => {
          responses.push(response)
          handle(received, response)
        }
        const listener = await network.listen(endpoint, respond, listenOptions)
        ;({ address } = listener)
        return listener
      },
    },
  })
  const exporter = prometheus.create(configOf(options), host)
  await exporter.start!()
  try {
    const scrape = async (headers: Record<string, string> = {}): Promise<string> => {
      return (await ask(address, 'GET /metrics', headers)).body
    }
    await use({ exporter, host, address, responses, scrape })
  } finally {
    const stopped = exporter.stop!(host.clock.monotonic())
    await host.clock.advance(1)
    await stopped
    await network.close()
  }
}

export type Served = {
  exporter: Exporter
  host: Omit<TestHost, 'network'>
  address: string
  responses: readonly ServerResponse[]
  scrape(headers?: Record<string, string>): Promise<string>
}
