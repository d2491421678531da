import assert from 'node:assert/strict'
import { chooseEncoding, type ContentEncoding } from '../../../exporters/prometheus/content-encoding.ts'

const CASES: readonly [header: string | undefined, expected: ContentEncoding | undefined][] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate, gzip;q=0.5', 'gzip'],
  ['zstd', 'zstd'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip;q=1.0, zstd;q=0.9', 'gzip'],
  ['zstd;q=0, gzip;q=0.1', 'gzip'],
  ['*', 'gzip'],
  ['gzip;q=0, *', 'zstd'],
  ['gzip;q=0, zstd;q=0, *', 'identity'],
  ['br, deflate', 'identity'],
  ['identity', 'identity'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.1, identity;q=0.9', 'identity'],
  ['gzip;q=0.5, identity;q=0.5', 'gzip'],
  ['gzip;q=0.001', 'gzip'],
  ['identity;q=0, gzip', 'gzip'],
  ['identity;q=0', undefined],
  ['*;q=0', undefined],
  ['br, *;q=0', undefined],
  ['*;q=0, identity', 'identity'],
  ['gzip;q=nonsense', 'identity'],
]

describe('choosing a content encoding', () => {
  for (const [header, expected] of CASES) {
    it(`takes ${expected ?? 'none'} for ${header === undefined ? 'no Accept-Encoding' : `"${header}"`}`, () => {
      assert.equal(chooseEncoding(header), expected)
    })
  }
})
