import assert from 'node:assert/strict'
import type { Batch } from '../../pipeline/model/batch.ts'
import type { RelabelRule } from '../../pipeline/relabel/rule.ts'
import { relabel } from '../../processors/relabel.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const INPUT = `
  # TYPE util gauge
  util{gpu="0",pci_bus_id="0:1",Hostname="node-a"} 29
  util{gpu="1",pci_bus_id="0:2",Hostname="node-a"} 57
  # TYPE lat histogram
  lat_bucket{le="1"} 1
  lat_bucket{le="+Inf"} 2
  lat_sum 3
  lat_count 2
`

type Options = { readonly types?: boolean; readonly keepOriginal?: boolean }

function check(name: string, rules: readonly RelabelRule[], expected: string, options: Options = {}): void {
  it(name, () => {
    const out: Batch[] = []
    const config = { rules: rules as never, keep_original: options.keepOriginal ?? false }
    relabel.create(config, testHost(), batch => out.push(batch)).consume(batchFromText(INPUT))
    const lines = expected.split('\n').map(line => line.trim())
    assert.equal(
      textFromBatch(out[0]!, options),
      lines
        .filter(line => line !== '')
        .map(line => `${line}\n`)
        .join(''),
    )
  })
}

describe('relabel', () => {
  check(
    'drops labels',
    [
      { action: 'labeldrop', regex: 'pci_bus_id|Hostname' },
      { source_labels: ['gpu'], regex: '', action: 'drop' },
    ],
    `util{gpu="0"} 29
     util{gpu="1"} 57`,
  )
  check(
    'chooses by the name and changes labels, whatever stands first',
    [
      { action: 'labeldrop', regex: 'pci_bus_id|Hostname' },
      { source_labels: ['__name__'], regex: 'lat_(sum|bucket)', action: 'drop' },
      { source_labels: ['gpu'], regex: '1', action: 'drop' },
      { source_labels: ['__name__'], regex: 'util|lat_.*', action: 'keep' },
      { target_label: 'cluster', replacement: 'a' },
    ],
    `lat_count{cluster="a"} 2
     util{cluster="a",gpu="0"} 29`,
  )
  check(
    'keeps what comes in, and has beside it what rules make of what they choose',
    [
      { source_labels: ['__name__', 'gpu'], regex: 'util;1', action: 'keep' },
      { source_labels: ['__name__'], regex: '(.*)', target_label: '__name__', replacement: 'copy_of_$1' },
      { action: 'labeldrop', regex: 'pci_bus_id' },
    ],
    `copy_of_util{Hostname="node-a",gpu="1"} 57
     lat_bucket{le="+Inf"} 2
     lat_bucket{le="1"} 1
     lat_count 2
     lat_sum 3
     util{Hostname="node-a",gpu="0",pci_bus_id="0:1"} 29
     util{Hostname="node-a",gpu="1",pci_bus_id="0:2"} 57`,
    { keepOriginal: true },
  )
  check(
    'chooses by the name alone',
    [
      { source_labels: ['__name__'], regex: 'lat_.*', action: 'keep' },
      { source_labels: ['__name__', '__name__'], regex: 'lat_sum;lat_sum', action: 'drop' },
    ],
    `lat_bucket{le="+Inf"} 2
     lat_bucket{le="1"} 1
     lat_count 2`,
  )
  check(
    'renames a series and keeps what is known about it',
    [
      { source_labels: ['__name__'], regex: 'util', target_label: '__name__', replacement: 'gpu_util' },
      { source_labels: ['__name__'], regex: 'gpu_util', action: 'keep' },
      { action: 'labelkeep', regex: '__name__|gpu' },
    ],
    `# TYPE gpu_util gauge
     gpu_util{gpu="0"} 29
     gpu_util{gpu="1"} 57`,
    { types: true },
  )
  check(
    'renames the parts of a histogram together',
    [
      { source_labels: ['__name__'], regex: 'lat_.*', action: 'keep' },
      { source_labels: ['__name__'], regex: 'lat(.*)', target_label: '__name__', replacement: 'latency$1' },
    ],
    `# TYPE latency histogram
     latency_bucket{le="+Inf"} 2
     latency_bucket{le="1"} 1
     latency_count 2
     latency_sum 3`,
    { types: true },
  )
  check(
    'lets the first of two series count that become one',
    [
      { source_labels: ['__name__'], regex: 'util', action: 'keep' },
      { action: 'labeldrop', regex: 'gpu|pci_bus_id' },
    ],
    `util{Hostname="node-a"} 29`,
  )
  check('drops what has lost its name', [{ action: 'labelkeep', regex: 'gpu' }], '')

  for (const [name, rule, path, message] of [
    [
      'a regular expression that does not compile',
      { regex: 'a(b', target_label: 'x' },
      ['rules', 0, 'regex'],
      /missing closing/,
    ],
    [
      'an action that there is not',
      { action: 'dorp' },
      ['rules', 0, 'action'],
      /unknown action "dorp"; there are replace/,
    ],
    ['a rule without a target', { regex: 'a' }, ['rules', 0], /needs `target_label`/],
    [
      'an option without an effect',
      { action: 'labeldrop', regex: 'a', target_label: 'b' },
      ['rules', 0, 'target_label'],
      /makes no use/,
    ],
  ] as const) {
    it(`refuses ${name}`, () => {
      const problems = relabel.check!({ rules: [rule] as never, keep_original: false })
      assert.deepEqual(
        problems.map(problem => problem.path),
        [path],
      )
      assert.match(problems[0]!.message, message)
    })
  }
})
