import assert from 'node:assert/strict'
import { Views } from '../../../pipeline/cluster/views.ts'
import type { Source } from '../../../pipeline/model/batch.ts'
import { createTracked } from '../../../pipeline/model/tracked.ts'
import { createSource } from '../../support/batch-from-text.ts'

type Shown = { readonly source: Source; readonly text: string }

describe('what several sources show', () => {
  const [a, b] = [createSource('a'), createSource('b')]

  function setUp() {
    const table = createTracked<Shown>()
    const views = new Views<Shown>(
      table,
      (one, other) => one.text === other.text,
      ({ source }) => source,
    )
    const put = (source: Source, text: string): void => views.put(source, 'gpu', { source, text })
    return { table, views, put, shown: () => table.entry('gpu').value?.text }
  }

  it('is what the one that spoke last shows, and then what is left', () => {
    const { views, put, shown } = setUp()
    put(a, 'of a')
    put(b, 'of b')
    assert.equal(shown(), 'of b')
    put(a, 'of a, newer')
    assert.equal(shown(), 'of a, newer')
    views.drop(a, 'gpu')
    assert.equal(shown(), 'of b')
    views.forget(b)
    assert.equal(shown(), undefined)
  })

  it('is not what a source shows that cannot be read, while another can', () => {
    const { views, put, shown } = setUp()
    put(a, 'of a')
    put(b, 'of b')
    views.reached(b, false)
    assert.equal(shown(), 'of a')
    views.reached(a, false)
    assert.equal(shown(), 'of b')
    views.reached(a, true)
    assert.equal(shown(), 'of a')
  })

  it('changes nothing that anybody depends on as long as it is the same', () => {
    const { table, views, put } = setUp()
    put(a, 'same')
    const { version } = table.entry('gpu')
    put(a, 'same')
    put(b, 'same')
    views.reached(b, false)
    views.forget(b)
    assert.equal(table.entry('gpu').version, version)
  })
})
