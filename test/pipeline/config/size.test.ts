import assert from 'node:assert/strict'
import { parseSize } from '../../../pipeline/config/size.ts'

const good: [string, number][] = [
  ['0', 0],
  ['65536', 65_536],
  ['1B', 1],
  ['1kB', 1000],
  ['1KB', 1000],
  ['1KiB', 1024],
  ['64MiB', 67_108_864],
  ['64 MiB', 67_108_864],
  ['1.5GiB', 1_610_612_736],
  ['2TB', 2e12],
]

const bad = [
  '',
  '-1',
  '64M',
  '64Mi',
  '64mib',
  'MiB',
  '1 KiB ',
  '1e3',
  '9999999999TiB',
  '64MiBB',
  'constructor',
  '5 toString',
]

describe('parseSize', () => {
  for (const [text, bytes] of good) it(`takes "${text}" for ${bytes} bytes`, () => assert.equal(parseSize(text), bytes))
  for (const text of bad)
    it(`refuses "${text}" and quotes it`, () => {
      assert.throws(() => parseSize(text), new RegExp(`"${text}" is`))
    })
})
