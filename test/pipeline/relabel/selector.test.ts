import assert from 'node:assert/strict'
import { parseSelector } from '../../../pipeline/relabel/selector.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'

const series: readonly (readonly [name: string, labels: Record<string, string>])[] = [
  ['up', {}],
  ['up', { job: 'dcgm' }],
  ['up', { job: 'dcgm', instance: 'a:9400' }],
  ['up', { job: 'ksm', instance: 'b:9400' }],
  ['upper', { job: 'dcgm' }],
  ['hw.gpu.utilization', { 'gpu.id': '0', text: 'a"b\\c\nd' }],
]

describe('selectors', () => {
  const cases: Record<string, number[]> = {
    up: [0, 1, 2, 3],
    'up{}': [0, 1, 2, 3],
    'up{job="dcgm"}': [1, 2],
    ' up { job = "dcgm" , instance != "a:9400" , } ': [1],
    "up{job='dcgm'}": [1, 2],
    'up{job=`dcgm`}': [1, 2],
    'up{job!="dcgm"}': [0, 3],
    'up{job=""}': [0],
    'up{job!=""}': [1, 2, 3],
    'up{job=~"d.*"}': [1, 2],
    'up{job=~"cgm"}': [],
    'up{job=~"dcgm|ksm",instance=~".+"}': [2, 3],
    'up{job!~"d.*"}': [0, 3],
    'up{instance=~".:9400"}': [2, 3],
    'up{instance=~"a\\:9400"}': [2],
    'up{job=~"dcgm",job!~"dcgm"}': [],
    '{job="dcgm"}': [1, 2, 4],
    '{__name__=~"up.+"}': [4],
    '{"hw.gpu.utilization"}': [5],
    '{"hw.gpu.utilization","gpu.id"="0"}': [5],
    '{text="a\\"b\\\\c\\nd"}': [5],
    '{text=~"a.b.c.d"}': [5],
  }
  for (const [text, expected] of Object.entries(cases)) {
    it(`select by ${text}`, () => {
      const selector = parseSelector(text)
      const found = series.flatMap(([name, labels], index) =>
        selector.matches(name, labelsFrom(Object.entries(labels))) ? [index] : [],
      )
      assert.deepEqual(found, expected)
      for (const index of found) assert.ok(selector.mayName(series[index]![0]))
    })
  }

  const mistakes: Record<string, string> = {
    '': 'a metric name or `{` is expected (at character 1 of the selector)',
    '{}': 'this selects everything; a name or a label is needed (at character 3 of the selector)',
    'up{': 'a label name is expected (at character 4 of the selector)',
    'up{job}': 'one of = != =~ !~ is expected (at character 7 of the selector)',
    'up{job=dcgm}': 'a value in quotes is expected (at character 8 of the selector)',
    'up{job="dcgm" instance="a"}': '`,` or `}` is expected (at character 15 of the selector)',
    'up{job=~"("}': 'error parsing regexp: missing closing ): `(` (at character 9 of the selector)',
    'up{job="dcgm"} 1': 'nothing more is expected (at character 16 of the selector)',
    '1up': 'a metric name or `{` is expected (at character 1 of the selector)',
  }
  for (const [text, message] of Object.entries(mistakes)) {
    it(`refuse ${text === '' ? 'an empty text' : text}`, () => {
      assert.throws(() => parseSelector(text), { message })
    })
  }

  it('say which conditions a series does not meet', () => {
    const selector = parseSelector('up{job="dcgm",instance=~"b.*"}')
    const unmet = selector.unmet('up', labelsFrom([['instance', 'b:1']]))
    assert.deepEqual(
      unmet.map(({ text }) => text),
      ['job="dcgm"'],
    )
  })
})
