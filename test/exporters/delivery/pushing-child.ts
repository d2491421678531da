/**
 * A process that pushes numbers: `pushing-child.ts DIRECTORY URL FIRST`. Makes number after number, from FIRST, and prints each as
 * soon as its request is safe on disk; without FIRST it only sends what waits, and ends when nothing does.
 */
import { createPush } from '../../../exporters/delivery/push.ts'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import type { Storage } from '../../../pipeline/component.ts'
import { createNetwork } from '../../../pipeline/http/network.ts'
import { EMPTY_LAYOUT } from '../../../pipeline/model/layout.ts'
import { openStorage } from '../../../pipeline/storage/storage.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { numberParts, pushConfig } from '../../support/pushing.ts'
import { testHost } from '../../support/test-host.ts'

const [, , directory, url, first] = process.argv
const clock = createSystemClock()
const network = createNetwork(clock)
const plain = testHost({ clock, network })
const disk = await openStorage(directory, plain.log, clock)
const storage: Storage = {
  ...disk,
  async queue(name, options) {
    const queue = await disk.queue(name, options)
    return {
      ...queue,
      async write(changes) {
        await queue.write(changes)
        // One write each: what was printed is with the parent, whatever happens next.
        for (const { body } of changes.added) process.stdout.write(`${Buffer.from(body).toString()}\n`)
      },
    }
  },
}
const config = pushConfig({
  timeout: '1s',
  retry_on_failure: { initial_interval: '10ms', max_interval: '50ms' },
  sending_queue: { batch: { flush_timeout: '1ms' }, num_consumers: 4 },
})
const host = { ...plain, storage }
const push = createPush(host, config, numberParts({ url: url!, maxPoints: 3 }))
await push.start()

const source = createSource()
if (first !== undefined) {
  let next = Number(first)
  const go = (): void => {
    const values = Float64Array.from({ length: 1 + (next % 7) }, () => next++)
    push.consume({ source, timeMs: 0, outcome: 'ok', layout: EMPTY_LAYOUT, values })
    clock.after(next % 5, go)
  }
  go()
} else {
  const look = async (): Promise<void> => {
    if (host.observed('gpucol_exporter_queue_size').get('')! > 0) {
      clock.after(10, () => void look())
      return
    }
    await push.stop(clock.monotonic() + 1000)
    await disk.close()
    process.exit()
  }
  await look()
}
