import assert from 'node:assert/strict'
import { endBatch, type Batch } from '../../pipeline/model/batch.ts'
import { filter } from '../../processors/filter.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const INPUT = `
  # TYPE util gauge
  util{gpu="0",pod="train-0"} 29
  util{gpu="1"} NaN
  temp{gpu="0",pod="train-0"} 41
  # TYPE lat histogram
  lat_bucket{le="1"} 1
  lat_bucket{le="+Inf"} 2
  lat_sum 3
  lat_count 2
  # TYPE size summary
  size{quantile="0.5"} 4
  size_sum 9
  size_count 2
`

type Config = { include?: string[]; exclude?: string[] }

function run({ include = [], exclude = [] }: Config, ...batches: Batch[]): { out: Batch[]; mapped: number } {
  const out: Batch[] = []
  const host = testHost()
  const processor = filter.create({ include, exclude }, host, batch => out.push(batch))
  for (const batch of batches) processor.consume(batch)
  return { out, mapped: host.counted.get('gpucol_processor_mapped_series')! }
}

function check(name: string, config: Config, expected: string): void {
  it(name, () => {
    const { out } = run(config, batchFromText(INPUT))
    assert.equal(textFromBatch(out[0]!), expected.replaceAll(/^ +/gm, ''))
  })
}

describe('filter', () => {
  check(
    'keeps what a name selects',
    { include: ['util'] },
    `util{gpu="0",pod="train-0"} 29
     util{gpu="1"} NaN
    `,
  )
  check(
    'keeps what labels select, whatever the name',
    { include: ['{gpu="0"}'] },
    `temp{gpu="0",pod="train-0"} 41
     util{gpu="0",pod="train-0"} 29
    `,
  )
  check(
    'drops what is excluded, also where it is included',
    { include: ['{gpu!=""}'], exclude: ['{__name__=~"te.*"}', 'util{pod=""}'] },
    `util{gpu="0",pod="train-0"} 29
    `,
  )
  check(
    'keeps the parts of a histogram and a summary together by the name of the family',
    { include: ['lat', '{__name__=~"si.e"}'] },
    `lat_bucket{le="+Inf"} 2
     lat_bucket{le="1"} 1
     lat_count 2
     lat_sum 3
     size_count 2
     size_sum 9
     size{quantile="0.5"} 4
    `,
  )
  check(
    'drops the parts of a histogram together, and a part alone where that is named',
    { exclude: ['lat', 'size_sum', '{gpu!=""}'] },
    `size_count 2
     size{quantile="0.5"} 4
    `,
  )
  check('takes a name that is not wanted for the whole family', { include: ['{__name__!~"lat|size",gpu=""}'] }, '')

  it('looks at each label set once where no selector has a name', () => {
    assert.equal(run({ exclude: ['{gpu="0"}'] }, batchFromText(INPUT)).mapped, 6)
  })

  it('looks at each metric once where selectors have names alone', () => {
    assert.equal(run({ include: ['util'], exclude: ['lat'] }, batchFromText(INPUT)).mapped, 8)
  })

  it('keeps the outgoing layout when only series change that are dropped', () => {
    const first = batchFromText('a 1\nb{x="1"} 1')
    const second = batchFromText('a 2\nb{x="2"} 1', { after: first })
    const { out } = run({ include: ['a'] }, first, second)
    assert.equal(out[0]!.layout, out[1]!.layout)
    assert.equal(textFromBatch(out[1]!), 'a 2\n')
  })

  it('leaves out what is absent, and hands on how a source ended', () => {
    const batch = { ...batchFromText('a 1\nb 2\nc 3'), absent: Uint32Array.of(1) }
    const { out } = run(
      { exclude: ['a'] },
      batch,
      endBatch(batch.source, 1, 'failed'),
      endBatch(batch.source, 2, 'removed'),
    )
    assert.deepEqual(
      out.map(one => textFromBatch(one)),
      ['c 3\n', '# failed\n', '# removed\n'],
    )
  })
})
