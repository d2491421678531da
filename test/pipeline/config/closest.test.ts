import assert from 'node:assert/strict'
import { closest } from '../../../pipeline/config/closest.ts'

const keys = ['scrape_interval', 'scrape_timeout', 'static_targets', 'endpoint', 'tls']

const cases: [string, string | undefined][] = [
  ['scrape_intervall', 'scrape_interval'],
  ['scrape_itnerval', 'scrape_interval'],
  ['scrapeInterval', 'scrape_interval'],
  ['scrape-timeout', 'scrape_timeout'],
  ['interval', 'scrape_interval'],
  ['endpiont', 'endpoint'],
  ['tsl', 'tls'],
  ['x', undefined],
  ['completely_different', undefined],
]

describe('closest', () => {
  for (const [word, expected] of cases)
    it(`${expected === undefined ? 'has no idea' : `offers ${expected}`} for ${word}`, () => {
      assert.equal(closest(word, keys), expected)
    })

  it('offers the word of which a letter is missing before one that is less near', () => {
    assert.equal(closest('workload_typ', ['workload_id', 'workload_type']), 'workload_type')
  })

  it('is quick with a word that is far too long', () => {
    assert.equal(closest('a'.repeat(1_000_000), keys), undefined)
  })
})
