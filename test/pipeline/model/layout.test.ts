import assert from 'node:assert/strict'
import { haveSameLabels, labelKeys, letLabelsGo, takeLabelsBack, type Layout } from '../../../pipeline/model/layout.ts'
import { batchFromText } from '../../support/batch-from-text.ts'

const layoutOf = (text: string): Layout => batchFromText(text).layout
const TWO = 'a{gpu="0",pod="x"} 1\na{gpu="1",pod="x"} 2'
const OTHERS = 'a{gpu="0",pod="x"} 1\na{gpu="1",pod="y"} 2'

describe('label sets of a layout that were let go', () => {
  it('can be told from others, whichever of the two still has them', () => {
    for (const first of [false, true]) {
      for (const second of [false, true]) {
        const [one, same, other, more] = [TWO, TWO, OTHERS, `${TWO}\na{gpu="2"} 3`].map(layoutOf) as Layout[]
        if (first) letLabelsGo(one!)
        if (second) for (const layout of [same!, other!, more!]) letLabelsGo(layout)
        assert.equal(haveSameLabels(one!, same!), true)
        assert.equal(haveSameLabels(one!, other!), false)
        assert.equal(haveSameLabels(one!, more!), false)
      }
    }
  })

  it('are not given away by names and values that make the same text', () => {
    const [one, other] = [layoutOf('a{b="c",d="e"} 1'), layoutOf(String.raw`a{b="c\",\"d",e="f"} 1`)]
    letLabelsGo(one)
    assert.equal(haveSameLabels(one, other), false)
  })

  it('are found by those that are equal', () => {
    const [one, other] = [layoutOf(TWO), layoutOf(OTHERS)]
    letLabelsGo(one)
    const { keys, keyOf } = labelKeys(one)
    assert.deepEqual(
      other.labels.map(labels => keys.indexOf(keyOf(labels))),
      [0, -1],
    )
  })

  it('are there again when they are taken back, and asking before is an error', () => {
    const [one, same] = [layoutOf(TWO), layoutOf(TWO)]
    letLabelsGo(one)
    assert.throws(() => one.labels, /let go/)
    takeLabelsBack(one, same)
    assert.deepEqual(one.labels, same.labels)
  })
})
