import assert from 'node:assert/strict'
import { PlainNames } from '../../../exporters/prometheus/plain-names.ts'
import { batchFromText } from '../../support/batch-from-text.ts'
import { pushedBatch, pushedSource } from '../../support/pushed-batch.ts'

describe('names that every format can carry', () => {
  const plain = batchFromText('a{b="1"} 1\na:c 1\nd{e="1",f="2"} 1\n')
  const pushed = pushedBatch(pushedSource({}), [{ metric: { name: 'a.b' }, value: 1 }])

  it('are written alike by all escapings but dots, which doubles underscores', () => {
    const names = new PlainNames('UnderscoreEscapingWithSuffixes')
    for (const escaping of ['allow-utf-8', 'values', 'underscores'] as const) {
      assert.equal(names.escapingFor(escaping, [plain, pushed]), 'underscores')
    }
    assert.equal(names.escapingFor('dots', [plain]), 'dots')
  })

  it('are not all, if one is different', () => {
    const names = new PlainNames('NoTranslation')
    assert.equal(names.escapingFor('allow-utf-8', [plain, pushed]), 'allow-utf-8')
    for (const text of ['{"a.b"} 1\n', 'a{b="1"} 1\na{"c.d"="1"} 1\n']) {
      assert.equal(names.escapingFor('values', [plain, batchFromText(text)]), 'values')
    }
    assert.equal(names.escapingFor('values', [plain]), 'underscores')
  })
})
