import assert from 'node:assert/strict'
import { readSamples } from '../../../pipeline/config-tests/expected-text.ts'
import { liveSeries } from '../../../pipeline/config-tests/live-series.ts'
import { updatedText } from '../../../pipeline/config-tests/update-expected.ts'
import { batchFromText } from '../../support/batch-from-text.ts'
import { CONFIG, suiteFolder } from './suite-folder.ts'

function update(before: string, got: string, tolerance = 0): string {
  const content = {
    bytes: Buffer.from(before),
    name: '',
    placeOfLine: () => assert.fail('the text of the test is wrong'),
    describeLine: String,
  }
  const samples = readSamples(content, ({ message }) => assert.fail(message))
  const batch = batchFromText(got, { timeMs: 5000 })
  const state = { batches: new Map([['prometheus', new Map([[batch.source, batch]])]]) }
  return updatedText(
    before,
    samples,
    liveSeries(state, () => true),
    tolerance,
  )
}

describe('updating expected files', () => {
  const cases: [name: string, before: string, got: string, after: string, tolerance?: number][] = [
    ['writes a new file sorted', '', 'b 2\na{y="1"} 1\na{x="1"} 1\n', 'a{x="1"} 1\na{y="1"} 1\nb 2\n'],
    [
      'changes nothing where nothing differs',
      '# why\nb 2.0\n\na{ y="1" } 1e0\n',
      'a{y="1"} 1\nb 2\n',
      '# why\nb 2.0\n\na{ y="1" } 1e0\n',
    ],
    ['changes a value in its place', 'b 2\na 1\n', 'a 3\nb 2\n', 'b 2\na 3\n'],
    ['takes out what is gone', 'a 1\nb 2\nc 3\n', 'a 1\nc 3\n', 'a 1\nc 3\n'],
    [
      'puts a new series behind the others of its metric',
      'b{x="1"} 1\na 1\n',
      'a 1\nb{x="1"} 1\nb{x="2"} 2\nc 3\n',
      'b{x="1"} 1\nb{x="2"} 2\na 1\nc 3\n',
    ],
    ['leaves what is within the tolerance', 'a 100\n', 'a 101\n', 'a 100\n', 0.1],
    ['keeps times where there were some', 'a 1 4000\nb 1\n', 'a 1\nb 2\nc 3\n', 'a 1 5000\nb 2\nc 3\n'],
    ['ends the last line', 'a 1', 'a 1\nb 2\n', 'a 1\nb 2\n'],
    ['empties a file', 'a 1\n', '', ''],
  ]
  for (const [name, before, got, after, tolerance] of cases) {
    it(name, () => {
      assert.equal(update(before, got, tolerance), after)
      if (after !== before) assert.equal(update(after, got, tolerance), after)
    })
  }

  it('leaves a file alone that two steps want to hold different things', async () => {
    const folder = suiteFolder({
      'config.yaml': CONFIG,
      'same.prom': 'a 1\n',
      'test.yaml': `
config: config.yaml
tests:
  - name: it
    steps:
      - at: 0s
        answers: { http://node-a:9400/metrics: { text: 'a 1' } }
        expect: [{ metrics: a, file: same.prom }]
      - at: 15s
        answers: { http://node-a:9400/metrics: { text: 'a 2' } }
        expect: [{ metrics: a, file: same.prom }, { metrics: scrape_samples_scraped, file: new/other.prom }]
`,
    })
    const { code, out } = await folder.run('test.yaml --update')
    assert.equal(code, 1)
    assert.match(
      out,
      /^surplus a\{.*\} 1; not updated: two steps want this file to hold different things \(test\.yaml:8\)$/m,
    )
    assert.equal(folder.read('same.prom'), 'a 1\n')
    assert.equal(folder.read('new/other.prom'), 'scrape_samples_scraped{instance="node-a:9400",job="dcgm"} 1\n')
    folder.remove()
  })
})
