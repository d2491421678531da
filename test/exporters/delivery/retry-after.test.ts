import assert from 'node:assert/strict'
import { retryAfterMs } from '../../../exporters/delivery/retry-after.ts'
import { sharedJson } from '../../support/shared.ts'

const NOW_MS = Date.UTC(2030, 0, 1)

describe('Retry-After', () => {
  const cases: readonly (readonly [header: string | undefined, expectedMs: number | undefined])[] = [
    ['120', 120_000],
    [' 0 ', 0],
    ['0.5', 500],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30_000],
    ['Tuesday, 01-Jan-30 00:00:30 GMT', 30_000],
    ['Tue Jan  1 00:00:30 2030', 30_000],
    ['Mon, 09 Feb 2025 15:04:05 GMT', 0],
    ['86400', 3_600_000],
    [undefined, undefined],
    ['', undefined],
    ['-5', undefined],
    ['soon', undefined],
    // What JavaScript takes for a date and HTTP does not.
    ['in 2099', undefined],
    ['2099-01-01', undefined],
    ['1 Jan 2099', undefined],
    ['Tue, 01 Jan 2030 00:00:30 PST', undefined],
    ['Tue, 41 Foo 2030 00:00:30 GMT', undefined],
  ]
  for (const [header, expectedMs] of cases) {
    it(`${header === undefined ? 'is not there' : `"${header}"`}: ${expectedMs ?? 'own back-off'}`, () => {
      assert.equal(retryAfterMs(header, NOW_MS), expectedMs)
    })
  }

  type Case = { kind: string; name: string; value: string; seconds: number | null }
  const suite = sharedJson<{ cases: Case[] }>('conformance', 'scrape-semantics', 'cases.json')?.cases ?? []
  for (const { kind, name, value, seconds } of suite) {
    if (kind !== 'retry-after') continue
    it(`is read as by Prometheus: ${name}`, () => {
      assert.equal(retryAfterMs(value, NOW_MS), seconds === null ? undefined : seconds * 1000)
    })
  }
})
