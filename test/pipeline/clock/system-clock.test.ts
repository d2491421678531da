import assert from 'node:assert/strict'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'

describe('system clock', () => {
  const clock = createSystemClock()

  it('shows the wall clock in milliseconds since 1970, and time that never steps', () => {
    assert.ok(Math.abs(clock.now() - Date.now()) < 1000)
    const before = clock.monotonic()
    assert.ok(clock.monotonic() >= before)
  })

  it('runs once after the delay, unless it is cancelled', async () => {
    const fired: string[] = []
    clock.after(0, () => fired.push('cancelled'))()
    await new Promise<void>(resolve => {
      clock.after(1, () => {
        fired.push('run')
        resolve()
      })
    })
    assert.deepEqual(fired, ['run'])
  })

  it('waits for a delay that is longer than a timer of Node can be', async () => {
    let fired = false
    const cancel = clock.after(2 ** 40, () => (fired = true))
    await new Promise(resolve => setTimeout(resolve, 5))
    cancel()
    assert.equal(fired, false)
  })
})
