import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorage } from '../../../pipeline/storage/storage.ts'
import { trackStorage } from '../../../pipeline/storage/tracked-storage.ts'
import { testHost } from '../../support/test-host.ts'

describe('storage under a virtual clock', () => {
  it('lets no time pass while it works', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gpucol-storage-'))
    const { clock, log } = testHost()
    const storage = await openStorage(directory, log, clock)
    const state = trackStorage(storage, clock).state('x')
    const seen: string[] = []
    clock.after(10, () => {
      void (async () => {
        await state.write(new Map([['a', Buffer.from('1')]]))
        seen.push(`written at ${clock.monotonic()}`)
        seen.push(`${(await state.load()).size} loaded at ${clock.monotonic()}`)
      })()
    })
    clock.after(11, () => seen.push('next'))
    await clock.advance(20)
    assert.deepEqual(seen, ['written at 10', '1 loaded at 10', 'next'])
    await storage.close()
    await rm(directory, { recursive: true })
  })
})
