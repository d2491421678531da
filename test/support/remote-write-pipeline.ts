/** The real receiver and the real exporter, on a virtual clock: targets are made up, what is sent goes over a real connection. */
import { prometheusRemoteWrite } from '../../exporters/prometheus-remote-write.ts'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import type { Exporter, Network } from '../../pipeline/component.ts'
import { createNetwork } from '../../pipeline/http/network.ts'
import { prometheus } from '../../receivers/prometheus.ts'
import { configOf } from './config-of.ts'
import { startWriteReceiver, type Behaviour, type WriteReceiver } from './remote-write-receiver.ts'
import { TEST_START_MS, testHost, type TestHost } from './test-host.ts'

export type WritePipeline = {
  readonly host: TestHost
  readonly receiver: WriteReceiver
  readonly exporter: Exporter
  /** What the target answers from now on; undefined: it is gone. */
  answer(text: string | undefined, contentType?: string): void
  /** Lets the scrapes of so many intervals of 15 s happen, and everything that follows from them. */
  scrape(times?: number): Promise<void>
  stop(): Promise<void>
}

export const TARGET = '127.0.0.1:9400'
const INTERVAL_MS = 15_000

export async function startWriter(
  config: object = {},
  behaviour?: Behaviour,
): Promise<Pick<WritePipeline, 'host' | 'receiver' | 'exporter' | 'stop'>> {
  const receiver = await startWriteReceiver(behaviour)
  const host = testHost({ id: 'prometheus_remote_write' })
  const real = createNetwork(createSystemClock())
  const exporter = prometheusRemoteWrite.create(
    configOf(prometheusRemoteWrite, { endpoint: receiver.url, ...config }),
    { ...host, network: tracked(real, host) },
  )
  await exporter.start!()
  return {
    host,
    receiver,
    exporter,
    async stop() {
      const stopped = exporter.stop!(host.clock.monotonic() + 60_000)
      await host.clock.advance(60_000)
      await stopped
      await real.close()
      await receiver.close()
    },
  }
}

export async function startWritePipeline(
  config: object = {},
  behaviour?: Behaviour,
  job: object = {},
): Promise<WritePipeline> {
  const writer = await startWriter(config, behaviour)
  const { host, exporter } = writer
  const scrape_configs = [{ job_name: 'test', scrape_interval: '15s', static_configs: [{ targets: [TARGET] }], ...job }]
  const scraper = prometheus.create(configOf(prometheus, { config: { scrape_configs } }), host, batch =>
    exporter.consume(batch),
  )
  await scraper.start!()
  let intervals = 0
  return {
    ...writer,
    answer(text, contentType = 'text/plain; version=0.0.4') {
      const url = `http://${TARGET}/metrics`
      host.network.answer(url, text === undefined ? { error: 'refused' } : { body: text, contentType })
    },
    scrape(times = 1) {
      intervals += times
      // The next scrape is due a moment later.
      return host.clock.runTo(TEST_START_MS + intervals * INTERVAL_MS - 1)
    },
    async stop() {
      await scraper.stop?.(host.clock.monotonic())
      await writer.stop()
    },
  }
}

/** Time stands still while a request is under way. */
function tracked(real: Network, { clock }: TestHost): Network {
  return {
    ...real,
    request(request, handler) {
      const { promise, resolve } = Promise.withResolvers<void>()
      void clock.track(promise)
      const cancel = real.request(request, {
        head: (status, headers) => handler.head(status, headers),
        chunk: bytes => handler.chunk(bytes),
        end() {
          handler.end()
          resolve()
        },
        failed(error) {
          handler.failed(error)
          resolve()
        },
      })
      return () => {
        cancel()
        resolve()
      }
    },
  }
}
