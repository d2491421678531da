import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { wordOf } from '../../pipeline/catalog/unit-words.ts'
import { scaleBetween, unitNames } from '../../pipeline/catalog/units.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { scaleOf } from '../../pipeline/model/scale.ts'
import { scaleBound } from '../../processors/convert-units/bucket-bound.ts'
import { convertUnits } from '../../processors/convert-units.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { testHost } from '../support/test-host.ts'
import { textFromBatch } from '../support/text-from-batch.ts'

type Rule = { match?: string[]; from?: string; to: string; rename?: boolean }

function convert(rules: Rule[], input: Batch, host = testHost()): Batch {
  const out: Batch[] = []
  const complete = rules.map(rule => ({ match: [], rename: false, ...rule }))
  convertUnits.create({ rules: complete as never }, host, batch => out.push(batch)).consume(input)
  return out[0]!
}

function check(name: string, rules: Rule[], input: string, expected: string): void {
  it(name, () => {
    const out = convert(rules, batchFromText(input))
    assert.equal(textFromBatch(out, { types: expected.includes('# TYPE') }), expected.replaceAll(/^ +/gm, ''))
  })
}

describe('convert_units', () => {
  check(
    'converts by an exact factor from the unit that it is told',
    [{ match: ['fb'], from: 'MiB', to: 'By' }],
    'fb{gpu="0"} 81559\nother 1',
    'fb{gpu="0"} 85520809984\nother 1\n',
  )
  check(
    'leaves alone what has no unit of the dimension where nothing is selected',
    [{ to: '%' }],
    'util_ratio 0.29\ntemp_celsius 41\nutil 0.5',
    'temp_celsius 41\nutil 0.5\nutil_ratio 29\n',
  )
  check(
    'changes the unit at the end of the name when asked, also before _total',
    [{ to: 'MiB', rename: true }],
    `# TYPE sent_bytes_total counter
     sent_bytes_total 1048576
     # TYPE fb_bytes gauge
     fb_bytes 2097152`,
    `# TYPE fb_mebibytes gauge
     # TYPE sent_mebibytes_total counter
     fb_mebibytes 2
     sent_mebibytes_total 1
    `,
  )
  check(
    'puts the unit at the end of a name that has none',
    [{ match: ['{__name__=~"FB_.*"}'], from: 'MiB', to: 'By', rename: true }],
    'FB_USED 1\nFB_FREE 2',
    'FB_FREE_bytes 2097152\nFB_USED_bytes 1048576\n',
  )
  check(
    'converts sums and bounds of a histogram and leaves its counts',
    [{ to: 'ms', rename: true }],
    `# TYPE lat_seconds histogram
     lat_seconds_bucket{le="0.07"} 1
     lat_seconds_bucket{le="1e-3"} 1
     lat_seconds_bucket{le="+Inf"} 2
     lat_seconds_sum 0.5
     lat_seconds_count 2`,
    `# TYPE lat_milliseconds histogram
     lat_milliseconds_bucket{le="+Inf"} 2
     lat_milliseconds_bucket{le="1"} 1
     lat_milliseconds_bucket{le="70"} 1
     lat_milliseconds_count 2
     lat_milliseconds_sum 500
    `,
  )
  check(
    'converts quantiles and the sum of a summary and leaves its count',
    [{ match: ['lat'], from: 's', to: 'ms' }],
    `# TYPE lat summary
     lat{quantile="0.5"} 0.25
     lat_sum 0.5
     lat_count 2`,
    'lat_count 2\nlat_sum 500\nlat{quantile="0.5"} 250\n',
  )
  check(
    'takes buckets for buckets where nobody says what type they are',
    [{ match: ['lat_bucket'], from: 's', to: 'ms' }],
    'lat_bucket{le="0.1"} 3',
    'lat_bucket{le="100"} 3\n',
  )
  check(
    'applies the first rule that means a series',
    [
      { match: ['a'], from: 'ms', to: 's' },
      { match: ['{__name__=~".*"}'], from: 's', to: 'ms' },
    ],
    'a 1\nb 1',
    'a 0.001\nb 1000\n',
  )
  check('leaves NaN and infinities', [{ to: 'ms' }], 'a_seconds NaN\nb_seconds +Inf', 'a_seconds NaN\nb_seconds +Inf\n')
  check('converts no info', [{ match: ['build'], from: 's', to: 'ms' }], '# TYPE build info\nbuild 1', 'build 1\n')
  check(
    'lets the first of two count that become one series',
    [{ to: 'By', rename: true }],
    'fb_bytes 5\nfb_mebibytes 1',
    'fb_bytes 5\n',
  )
  check(
    'lets the first count, too, where it is the one that is converted',
    [{ to: 'By', rename: true }],
    'fb_mebibytes 1\nfb_bytes 5',
    'fb_bytes 1048576\n',
  )

  it('gives metrics their new unit, in words where the source uses words', () => {
    const text = '# TYPE a_bytes gauge\n# UNIT a_bytes bytes\na_bytes 1\n# TYPE b_bytes gauge\nb_bytes 1\n# EOF\n'
    const input = batchFromText(text, { dialect: 'openmetrics' })
    const units = (rename: boolean) => convert([{ to: 'MiB', rename }], input).layout.metrics.map(({ unit }) => unit)
    assert.deepEqual(units(true), ['mebibytes', 'MiB'])
    assert.deepEqual(units(false), ['mebibytes', 'MiB'])
  })

  it('corrects the unit in the help of dcgm-exporter', () => {
    const input = batchFromText('# HELP fb Framebuffer memory used (in MiB).\n# TYPE fb gauge\nfb 1')
    const { layout } = convert([{ match: ['fb'], from: 'MiB', to: 'By' }], input)
    assert.equal(layout.metrics[0]!.help, 'Framebuffer memory used (in bytes).')
  })

  it('renames counters of OpenMetrics, whose family has no ending', () => {
    const text = '# TYPE a_bytes counter\n# UNIT a_bytes bytes\na_bytes_total 1048576\n# EOF\n'
    const out = convert([{ to: 'MiB', rename: true }], batchFromText(text, { dialect: 'openmetrics' }))
    assert.equal(textFromBatch(out, { types: true }), '# TYPE a_mebibytes counter\na_mebibytes_total 1\n')
  })

  it('gives back the number that came in, through as many units as there are', () => {
    const there = convert([{ to: '1' }], batchFromText('util_percent 29\nutil2_percent 57'))
    assert.equal(textFromBatch(convert([{ to: '%' }], there)), 'util2_percent 57\nutil_percent 29\n')
  })

  it('counts what it cannot convert, says so once and lets it through', () => {
    const host = testHost()
    const out = convert([{ match: ['{__name__=~"a.*"}'], to: 's' }], batchFromText('a_bytes 1\nab 2'), host)
    assert.equal(textFromBatch(out), 'a_bytes 1\nab 2\n')
    assert.equal(host.counted.get('gpucol_processor_unconverted_series'), 2)
    assert.deepEqual(host.logged, ['warn: cannot convert to "s": its unit is "By" metric=a_bytes'])
  })

  it('has a word for every unit', () => {
    assert.deepEqual(
      unitNames().filter(unit => wordOf(unit) === undefined),
      [],
    )
  })

  it('comes back to the same bound of a bucket from every unit, to the last digit that a number has', () => {
    const pairs = unitNames().flatMap(from =>
      unitNames().flatMap(to => {
        const scale = scaleBetween(from, to)
        return scale === undefined || from === to ? [] : [{ scale, back: scaleBetween(to, from)! }]
      }),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...pairs),
        fc.integer({ min: 0, max: 99_999 }),
        fc.integer({ min: 0, max: 4 }),
        (pair, digits, places) => {
          const bound = String(digits / 10 ** places)
          const back = Number(scaleBound(scaleBound(bound, pair.scale), pair.back))
          assert.ok(Math.abs(back - Number(bound)) <= Number(bound) * 2 * Number.EPSILON, `${bound} became ${back}`)
        },
      ),
    )
  })

  it('scales bounds of buckets exactly, and leaves what is no number', () => {
    const cases: [string, number, number, string][] = [
      ['0.07', 100, 1, '7'],
      ['-0.5', 1000, 1, '-500'],
      ['1e3', 1, 1000, '1'],
      ['.5', 10, 1, '5'],
      ['2.', 1, 2, '1'],
      ['+Inf', 10, 1, '+Inf'],
      ['', 10, 1, ''],
    ]
    for (const [bound, multiply, divide, expected] of cases) {
      assert.equal(scaleBound(bound, scaleOf(multiply, divide)), expected)
    }
  })
})
