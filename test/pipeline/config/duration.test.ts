import assert from 'node:assert/strict'
import { parseDuration } from '../../../pipeline/config/duration.ts'

const good: [string, number][] = [
  ['0', 0],
  ['0s', 0],
  ['15s', 15_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['.5s', 500],
  ['324ms', 324],
  ['1500us', 1.5],
  ['1500µs', 1.5],
  ['1ns', 1e-6],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  ['1s1s', 2000],
]

const bad = ['', '15', '-5s', 's', '15 s', '15sec', '1h30', '1x', '5m-1s', 'abc', '１s', '15s ', '1e3s', '300000000h']

describe('parseDuration', () => {
  for (const [text, ms] of good) it(`takes "${text}" for ${ms} ms`, () => assert.equal(parseDuration(text), ms))
  for (const text of bad)
    it(`refuses "${text}" and quotes it`, () => {
      assert.throws(() => parseDuration(text), new RegExp(`"${text}" is`))
    })
})
