import assert from 'node:assert/strict'
import { Views } from '../../../pipeline/cluster/views.ts'
import { createTracked } from '../../../pipeline/model/tracked.ts'
import { createSource } from '../../support/batch-from-text.ts'

describe('what several sources show', () => {
  const [a, b] = [createSource('a'), createSource('b')]

  function setUp() {
    const table = createTracked<string>()
    const views = new Views<string>(table, (one, other) => one === other)
    return { table, views, shown: () => table.entry('gpu').value }
  }

  it('is what the one that spoke last shows, and then what is left', () => {
    const { views, shown } = setUp()
    views.put(a, 'gpu', 'of a')
    views.put(b, 'gpu', 'of b')
    assert.equal(shown(), 'of b')
    views.put(a, 'gpu', 'of a, newer')
    assert.equal(shown(), 'of a, newer')
    views.drop(a, 'gpu')
    assert.equal(shown(), 'of b')
    views.forget(b)
    assert.equal(shown(), undefined)
  })

  it('is not what a source shows that cannot be read, while another can', () => {
    const { views, shown } = setUp()
    views.put(a, 'gpu', 'of a')
    views.put(b, 'gpu', 'of b')
    views.reached(b, false)
    assert.equal(shown(), 'of a')
    views.reached(a, false)
    assert.equal(shown(), 'of b')
    views.reached(a, true)
    assert.equal(shown(), 'of a')
  })

  it('changes nothing that anybody depends on as long as it is the same', () => {
    const { table, views } = setUp()
    views.put(a, 'gpu', 'same')
    const { version } = table.entry('gpu')
    views.put(a, 'gpu', 'same')
    views.put(b, 'gpu', 'same')
    views.reached(b, false)
    views.forget(b)
    assert.equal(table.entry('gpu').version, version)
  })
})
