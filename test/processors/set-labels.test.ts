import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Batch } from '../../pipeline/model/batch.ts'
import { setLabels } from '../../processors/set-labels.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { testHost, type TestHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

const INPUT = `
  # TYPE util gauge
  util{gpu="0",namespace="team-a",pod="train-0",user="jane"} 29
  util{gpu="1",user="joe"} 57
  # TYPE lat histogram
  lat_bucket{le="1"} 1
  lat_bucket{le="+Inf"} 2
  lat_sum 3
  lat_count 2
`

const DEFAULTS = {
  match: [],
  from: {},
  separator: '/',
  set: {},
  overwrite: true,
  hash: [],
  hash_salt: '',
  delete: [],
}
type Config = Parameters<typeof setLabels.create>[0]

function run(config: Partial<Config>, text = INPUT, host: TestHost = testHost()): string {
  const out: Batch[] = []
  setLabels.create({ ...DEFAULTS, ...config } as Config, host, batch => out.push(batch)).consume(batchFromText(text))
  return textFromBatch(out[0]!)
}

function check(name: string, config: Partial<Config>, expected: string): void {
  it(name, () => {
    const lines = run({ match: ['util'], ...config })
      .split('\n')
      .filter(line => line.startsWith('util'))
    assert.deepEqual(
      lines,
      expected.split('\n').map(line => line.trim()),
    )
  })
}

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

describe('set_labels', () => {
  check(
    'sets constants, and nothing where the value is empty',
    { set: { cluster: 'eu-1', region: '', gpu: 'x' } },
    `util{cluster="eu-1",gpu="x",namespace="team-a",pod="train-0",user="jane"} 29
     util{cluster="eu-1",gpu="x",user="joe"} 57`,
  )
  check(
    'fills in what is missing where it must not overwrite',
    { set: { pod: 'none', gpu: 'x' }, overwrite: false },
    `util{gpu="0",namespace="team-a",pod="train-0",user="jane"} 29
     util{gpu="1",pod="none",user="joe"} 57`,
  )
  check(
    'takes values from other labels, and writes nothing where one of them is missing',
    { from: { tenant: 'namespace', workload: ['namespace', 'pod'] }, delete: ['user'] },
    `util{gpu="0",namespace="team-a",pod="train-0",tenant="team-a",workload="team-a/train-0"} 29
     util{gpu="1"} 57`,
  )
  check(
    'reads all labels as they came in, so that two can change places',
    { from: { gpu: 'user', user: 'gpu' }, separator: '-' },
    `util{gpu="jane",namespace="team-a",pod="train-0",user="0"} 29
     util{gpu="joe",user="1"} 57`,
  )
  check(
    'renames a label by taking its value and deleting it',
    { from: { device: 'gpu' }, delete: ['gpu', 'na.*'] },
    `util{device="0",pod="train-0",user="jane"} 29
     util{device="1",user="joe"} 57`,
  )
  check(
    'hashes values, with a salt',
    { hash: ['user', 'absent'], hash_salt: 'pepper', delete: ['namespace', 'pod'] },
    `util{gpu="0",user="${sha('pepperjane')}"} 29
     util{gpu="1",user="${sha('pepperjoe')}"} 57`,
  )

  it('changes only series that are selected', () => {
    const out = run({ match: ['lat', 'util{gpu="1"}'], set: { a: 'b' } })
    assert.match(out, /^lat_bucket\{a="b",le="1"\} 1$/m)
    assert.match(out, /^util\{a="b",gpu="1",user="joe"\} 57$/m)
    assert.match(out, /^util\{gpu="0",namespace="team-a",pod="train-0",user="jane"\} 29$/m)
  })

  it('never takes the bound of a bucket away', () => {
    assert.match(run({ delete: ['.*e'] }), /^lat_bucket\{le="1"\} 1$/m)
  })

  it('looks at each label set once', () => {
    const host = testHost()
    run({ set: { a: 'b' } }, undefined, host)
    assert.equal(host.counted.get('gpucol_processor_mapped_series'), 5)
  })

  it('lets the first of two series count that become one, counts the other and says so once', () => {
    const host = testHost()
    const batch = batchFromText('a{x="1"} 1\na{x="2"} 2\na{x="3"} 3')
    const out: Batch[] = []
    const processor = setLabels.create({ ...DEFAULTS, delete: ['x'] } as never, host, one => out.push(one))
    processor.consume(batch)
    processor.consume({ ...batch, absent: Uint32Array.of(0) })
    assert.deepEqual(
      out.map(one => textFromBatch(one)),
      ['a 1\n', 'a 2\n'],
    )
    assert.equal(host.counted.get('gpucol_processor_folded_metric_points'), 4)
    assert.deepEqual(host.logged, [
      'warn: several series became one: of these the first counts metric=a source=http://node-a:9400/metrics',
    ])
  })
})
