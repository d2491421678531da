import assert from 'node:assert/strict'
import { createTextReader, type TextReader } from '../../../pipeline/formats/prometheus-text.ts'
import type { Dialect } from '../../../pipeline/formats/sample-line.ts'
import { labelPairs, labelsFrom, withLabels, type Labels } from '../../../pipeline/model/labels.ts'
import type { Layout } from '../../../pipeline/model/layout.ts'
import { collectOnce } from '../../support/garbage.ts'

/** What each exposition is read as, and how often the reader made label sets of blocks. */
function createCounting(): { read: (text: string, dialect?: Dialect) => Layout; made: () => number } {
  let made = 0
  const reader: TextReader = createTextReader({
    labels(exposed) {
      made++
      return withLabels(labelsFrom(exposed), [['job', 'dcgm']])
    },
  })
  return {
    read(text, dialect = 'text') {
      reader.begin(dialect)
      reader.push(Buffer.from(text))
      const { layout, problem } = reader.finish()
      assert.equal(problem, undefined)
      return layout
    },
    made: () => made,
  }
}

/** Sets that nobody holds while garbage is collected. */
function spelt(layout: Layout): string[] {
  return layout.labels.map(labels => JSON.stringify(labelPairs(labels)))
}

const CASES: readonly [what: string, text: string, dialect?: Dialect][] = [
  ['plain labels', 'a{gpu="0",pod="x"} 1\na{gpu="1"} 2\nb{gpu="0",pod="x"} 3\n'],
  ['no labels', 'a 1\nb{x="1"} 2\n'],
  ['blanks and empty values', 'a { x = "1" , y = "" , } 1\na\t{z="2"}\t2\n'],
  ['escapes and what is not ASCII', 'a{x="\\"\\\\\\n",y="ü{}, ="} 1\na{x="日本"} 1\n'],
  ['names in quotes', '{"a.b",x="1"} 1\n{"a.b","x y"="2"} 2\na{x="3"} 4\n'],
  ['a label called as the name behind which it is read', 'x{x="1"} 1\n'],
  ['OpenMetrics', 'a{x="1"} 1 5.5 # {t="1"} 1\na{x="2"} 1\n# EOF\n', 'openmetrics'],
]

describe('label sets of label blocks', function () {
  this.timeout(60_000)

  for (const [what, text, dialect] of CASES) {
    it(`are let go and made again, equal to what they were: ${what}`, async () => {
      const { read, made } = createCounting()
      const layout = read(text, dialect)
      const before = spelt(layout)
      const count = made()
      await collectOnce()
      const held = layout.labels
      assert.deepEqual(spelt(layout), before)
      assert.equal(made(), 2 * count, 'nobody held them, and they were still there')
      await collectOnce()
      assert.equal(layout.labels, held)
      assert.equal(made(), 2 * count)
    })
  }

  it('are the ones that somebody holds', async () => {
    const { read } = createCounting()
    const layout = read('a{gpu="0"} 1\na{gpu="1"} 1\n')
    const one: Labels = layout.labels[1]!
    await collectOnce()
    assert.equal(layout.labels[1], one)
  })

  it('are what they would be when series come and go afterwards', async () => {
    const texts = [
      'a{gpu="0"} 1\na{gpu="1"} 1\n',
      'a{gpu="0"} 1\na{gpu="2"} 1\na{gpu="1"} 1\n',
      'a{gpu="2"} 1\na{gpu="1"} 1\nb{gpu="2"} 1\n',
      'b{gpu="2"} 1\na{gpu="1"} 1\na{gpu="2"} 1\n',
      'a{gpu="1"} 1\n',
    ]
    const [collected, plain] = [createCounting(), createCounting()]
    let held: Layout | undefined
    for (const text of texts) {
      const expected = plain.read(text)
      held = expected
      const layout = collected.read(text)
      await collectOnce()
      assert.deepEqual(spelt(layout), spelt(held))
      assert.deepEqual(layout.metricOf, expected.metricOf)
      assert.deepEqual(layout.labelsOf, expected.labelsOf)
      assert.deepEqual(layout.keptFrom?.runs, expected.keptFrom?.runs)
    }
  })

  it('of a source that has very many are kept', async () => {
    const { read, made } = createCounting()
    const layout = read(Array.from({ length: 2000 }, (_, i) => `a{pod="${i}"} 1\n`).join(''))
    const count = made()
    await collectOnce()
    assert.equal(layout.labels.length, 2000)
    assert.equal(made(), count)
  })
})
