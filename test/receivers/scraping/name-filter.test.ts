import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createTextReader, type Exposition } from '../../../pipeline/formats/prometheus-text.ts'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../../pipeline/model/layout.ts'
import { onlyNames } from '../../../receivers/scraping/name-filter.ts'

const isWanted = (name: string): boolean => name.startsWith('kube_pod')

function read(text: string, cuts: readonly number[], filtered: boolean): Exposition {
  const reader = filtered ? onlyNames(createTextReader(), isWanted) : createTextReader()
  const bytes = Buffer.from(text)
  const places = [...cuts.map(cut => cut % (bytes.length + 1)), 0, bytes.length].sort((a, b) => a - b)
  reader.begin('text')
  places.slice(1).forEach((end, i) => reader.push(bytes.subarray(places[i], end)))
  return reader.finish()
}

function samplesOf({ layout, values }: Exposition): string[] {
  return Array.from(values, (value, column) => {
    const { name, type, help } = metricAt(layout, column)
    return JSON.stringify([name, type, help, labelPairs(labelsAt(layout, column)), value])
  })
}

describe('filter of names', () => {
  it('keeps what is wanted, with its description, and counts what it left out as scraped', () => {
    const text = `# HELP kube_pod_info Pods.
# TYPE kube_pod_info gauge
kube_pod_info{pod="a"} 1
# HELP kube_node_info Nodes.
# TYPE kube_node_info gauge
kube_node_info{node="a"} 1
kube_node_info{node="b"} 1
kube_podx 2
other 3
kube_pod_info{pod="b"} 1`
    const exposition = read(text, [], true)
    assert.deepEqual(samplesOf(exposition), [
      '["kube_pod_info","gauge","Pods.",[["pod","a"]],1]',
      '["kube_podx","unknown","",[],2]',
      '["kube_pod_info","gauge","Pods.",[["pod","b"]],1]',
    ])
    assert.equal(exposition.samples, 6)
    assert.equal(exposition.badLines, 0)
  })

  it('lets through what it cannot judge', () => {
    const { samples, badLines, endMissing } = read(
      '# a comment\n\n  \n{"kube.other"} 1\n# TYPE "kube.other" gauge\nWelcome to the proxy\n# EOF\n',
      [],
      true,
    )
    assert.deepEqual([samples, badLines, endMissing], [1, 1, false])
    const long = 'x'.repeat(2000)
    assert.equal(samplesOf(read(`${long} 1\n`, [10, 1500], true)).length, 1)
  })

  it('gives the same as leaving the lines out, wherever the pieces of a body end', () => {
    const name = fc.constantFrom('kube_pod_info', 'kube_pod', 'kube_node_info', 'kube_po', 'x', 'kube_pod_info_x')
    const line = fc.oneof(
      name.map(text => `${text} 1`),
      fc.tuple(name, fc.nat(3)).map(([text, pod]) => `${text}{pod="${pod}"} ${pod}`),
      fc.tuple(fc.constantFrom('HELP', 'TYPE'), name).map(([word, text]) => `# ${word} ${text} gauge`),
      fc.constantFrom('', '# comment', 'kube_pod', '#', ' x 1'),
    )
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 20 }),
        fc.array(fc.nat(1000), { maxLength: 6 }),
        fc.boolean(),
        (lines, cuts, isEnded) => {
          const end = isEnded ? '\n' : ''
          const kept = lines.filter(text => {
            const word = /^(?:# (?:HELP|TYPE) )?([a-z_]+)/.exec(text)?.[1]
            return word === undefined || text === word || isWanted(word)
          })
          const expected = read(kept.map(text => `${text}\n`).join(''), [], false)
          const found = read(lines.join('\n') + end, cuts, true)
          assert.deepEqual(samplesOf(found), samplesOf(expected))
          assert.equal(found.badLines, expected.badLines)
        },
      ),
      { numRuns: 300 },
    )
  })
})
