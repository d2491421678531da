/**
 * A process that keeps state in the directory named by its argument: writes key after key and prints each once it is safe.
 * At `close` on standard input it closes its store and ends.
 */
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { openStorage } from '../../../pipeline/storage/storage.ts'
import { testHost } from '../../support/test-host.ts'

const { log } = testHost()
const storage = await openStorage(process.argv[2], log, createSystemClock())
const state = storage.state('roll_up')
let closing = false
process.stdin.once('data', () => (closing = true))
for (let i = 0; !closing; i++) {
  await state.write(new Map([[`key ${i}`, Buffer.from(`value ${i} `.repeat(i % 200))]]))
  process.stdout.write(`key ${i}\n`)
}
await storage.close()
process.exit()
