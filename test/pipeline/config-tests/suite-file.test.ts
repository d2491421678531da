import assert from 'node:assert/strict'
import { formatProblem } from '../../../pipeline/config/config-error.ts'
import { readSuite } from '../../../pipeline/config-tests/suite-file.ts'
import { suiteFolder } from './suite-folder.ts'

/** Files beside the test file. */
const BESIDE = {
  'good.prom': 'a 1\n',
  'bad.prom': '# TYPE a gauge\na{b="c"} 1\na{b="c} 2\n\n  b one\na{b="c"} 3\n',
  'objects.json':
    '{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}]}',
  'no-kind.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n---\napiVersion: v1\nmetadata: { name: q }\n',
  'one-uid.json': `{"apiVersion":"v1","kind":"List","items":[
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","uid":"1"}},
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","uid":"1"}}]}`,
  'no-yaml.yaml': 'apiVersion: v1\nkind: [\n',
}

/** What is said about a test file: the first line of each problem. */
function problemsOf(text: string, options = {}): string[] {
  const folder = suiteFolder({ ...BESIDE, 'test.yaml': text })
  try {
    const { suite, problems } = readSuite(folder.path('test.yaml'), options)
    assert.equal(
      suite === undefined,
      problems.some(({ severity }) => severity === 'error'),
    )
    return problems.map(problem =>
      formatProblem(problem)
        .split('\n')[0]!
        .replaceAll(`${folder.path('')}/`, ''),
    )
  } finally {
    folder.remove()
  }
}

/** A file with one test that has these steps, each a line. The first is line 5. */
function withSteps(...steps: string[]): string {
  return ['config: c.yaml', 'tests:', '  - name: it', '    steps:', ...steps.map(step => `      - ${step}`), ''].join(
    '\n',
  )
}

describe('test files', () => {
  it('are read', () => {
    const text = withSteps('{ at: 0s, expect: [{ text: "" }] }', '{ at: 1h30m }')
    assert.deepEqual(problemsOf(text), [])
  })

  const mistakes: [name: string, text: string, ...problems: string[]][] = [
    ['that are empty', '', 'test.yaml:1:1: `tests` is missing in `the test file`'],
    ['that are no YAML', 'tests: [', 'test.yaml:1:8: a `{` or `[` before this is not closed'],
    [
      'with unknown keys, at every level',
      'confg: c.yaml\ntests:\n  - name: it\n    config: c.yaml\n    stesp: []\n    steps:\n      - at: 0s\n        answer: {}\n        expect:\n          - metric: a\n            text: ""\n',
      'test.yaml:1:1: unknown key `confg` in `the test file`',
      'test.yaml:5:5: unknown key `stesp` in `tests[0]`',
      'test.yaml:8:9: unknown key `answer` in `tests[0].steps[0]`',
      'test.yaml:10:13: unknown key `metric` in `tests[0].steps[0].expect[0]`',
    ],
    [
      'that do not say what is tested',
      'tests:\n  - name: it\n    steps: [{ at: 0s, expect: [{ text: "" }] }]\n',
      'test.yaml:2:5: it is not said what is tested: `config` is missing, in the test or at the top of the file',
    ],
    [
      'with a config and processors in one place',
      'config: c.yaml\nprocessors: [{ relabel: {} }]\ntests: [{ name: it, steps: [{ at: 0s, expect: [{ text: "" }] }] }]\n',
      'test.yaml:2:1: `processors` stands instead of `config`; there cannot be both',
    ],
    [
      'that set something where there is no config',
      'tests:\n  - name: it\n    processors: [{ relabel: {} }]\n    set: { a: b }\n    steps: [{ at: 0s, expect: [{ text: "" }] }]\n',
      'test.yaml:4:5: `set` changes a config; here are processors',
    ],
    [
      'with processors that are no maps of one',
      'processors: [relabel, { a: {}, b: {} }, {}]\ntests: [{ name: it, steps: [{ at: 0s, expect: [{ text: "" }] }] }]\n',
      'test.yaml:1:14: `processors[0]` must be a map, found "relabel"',
      'test.yaml:1:23: `processors[1]` must have at most 1 keys',
      'test.yaml:1:41: `processors[2]` must not be empty',
    ],
    [
      'with input where there are receivers',
      withSteps('{ at: 0s, input: { text: "a 1" }, expect: [{ text: "" }] }'),
      'test.yaml:5:19: `input` goes with `processors`; a config has receivers',
    ],
    [
      'with steps that go backwards',
      withSteps('at: 30s', 'at: 1m', 'at: 45s', '{ at: 2m, expect: [{ text: "" }] }'),
      'test.yaml:7:13: steps go forward: 45s is before the 1m of the step above',
    ],
    [
      'with times that are none',
      'config: c.yaml\ntests:\n  - name: it\n    start: yesterday\n    steps:\n      - at: 5\n        expect: [{ text: "" }]\n  - name: local\n    start: 2024-01-01T00:00:00\n    steps: [{ at: 0, expect: [{ text: "" }] }]\n',
      'test.yaml:4:12: `start` must be a time such as 2023-11-14T22:13:30Z, found "yesterday"',
      'test.yaml:6:13: `tests[0].steps[0].at` must be a duration such as 15s or 1h30m, found 5; add a unit: 5s',
      'test.yaml:9:12: `start` must be a time such as 2023-11-14T22:13:30Z, found "2024-01-01T00:00:00"',
    ],
    [
      'with answers that are none',
      withSteps(
        '{ at: 0s, answers: { "ftp://a/": { text: "" }, "http://a": {}, "http://b": { file: none.prom } } }',
        '{ at: 1s, answers: { "http://a": { error: down }, "http://b": { error: refused, status: 500 } } }',
        '{ at: 2s, answers: { "http://a": { status: 99 }, "http://b:80/": { text: "", file: good.prom }, "http://b": { text: "" } } }',
        '{ at: 3s, expect: [{ text: "" }] }',
      ),
      'test.yaml:5:30: "ftp://" is neither http:// nor https://',
      'test.yaml:5:56: one of `file`, `text`, `status` and `error` is needed in `tests[0].steps[0].answers.http://a`',
      'test.yaml:5:92: none.prom cannot be read: no such file',
      'test.yaml:6:51: `tests[0].steps[1].answers.http://a.error` must be refused or timeout, found "down"',
      'test.yaml:6:89: no `status` where there is an `error`',
      'test.yaml:7:52: `tests[0].steps[2].answers.http://a.status` must be at least 100, found 99',
      'test.yaml:7:76: only one of `file` and `text` can be the body',
      'test.yaml:7:105: a second answer for http://b/ in one step',
    ],
    [
      'with an expected file that has mistakes',
      withSteps('{ at: 0s, expect: [{ file: bad.prom }] }'),
      'bad.prom:3:1: a quote is not closed',
      'bad.prom:5:3: the value is not a number',
      'bad.prom:6:1: a{b="c"} is there twice, first in bad.prom:2',
    ],
    [
      'with an expected text that has mistakes',
      'config: c.yaml\ntests:\n  - name: it\n    steps:\n      - at: 0s\n        expect:\n          - text: |\n              a 1\n              b\n          - text: "a 1\\nb"\n',
      'test.yaml:9:15: a value is missing',
      'test.yaml:10:19: a value is missing',
    ],
    [
      'with expected lines that are never compared',
      withSteps('{ at: 0s, expect: [{ metrics: "b.*", file: good.prom }] }'),
      'good.prom:1:1: `metrics` does not match "a", so it would never be compared',
    ],
    [
      'with expectations that do not fit together',
      withSteps(
        '{ at: 0s, expect: [{ metrics: a }] }',
        '{ at: 1s, expect: [{ text: "", absent: a }] }',
        '{ at: 2s, expect: [{ absent: a, value: 1 }] }',
        '{ at: 3s, expect: [{ log: a, exporter: b, tolerance: 1 }] }',
        '{ at: 4s, expect: [{ present: a, value: high, metrics: a }] }',
        '{ at: 5s, expect: [{ text: "", tolerance: -1 }] }',
      ),
      'test.yaml:5:28: one of `file`, `text`, `absent`, `present` and `log` is needed in `tests[0].steps[0].expect[0]`',
      'test.yaml:6:28: only one of `file`, `text`, `absent`, `present` and `log` may stand in `tests[0].steps[1].expect[0]`',
      'test.yaml:7:41: `value` does not go with `absent`',
      'test.yaml:8:38: `exporter` does not go with `log`',
      'test.yaml:8:51: `tolerance` does not go with `log`',
      'test.yaml:9:49: `value` must be a number, NaN, +Inf or -Inf, found "high"',
      'test.yaml:9:55: `metrics` does not go with `present`',
      'test.yaml:10:51: `tests[0].steps[5].expect[0].tolerance` must be at least 0, found -1',
    ],
    [
      'with expressions that are none',
      withSteps('{ at: 0s, expect: [{ metrics: "a(", text: "" }, { log: "[" }, { absent: "a{b}" }] }'),
      'test.yaml:5:39: error parsing regexp: missing closing ): `a(`',
      'test.yaml:5:64: error parsing regexp: missing closing ]: `[`',
      'test.yaml:5:81: one of = != =~ !~ is expected (at character 4 of the selector)',
    ],
    [
      'with objects that are none',
      withSteps(
        '{ at: 0s, objects: { file: no-kind.yaml } }',
        '{ at: 1s, objects: { file: one-uid.json } }',
        '{ at: 2s, objects: { file: no-yaml.yaml } }',
        '{ at: 3s, objects: {}, expect: [{ text: "" }] }',
      ),
      'no-kind.yaml:5:1: the object has no kind',
      'one-uid.json:3:3: Pod "default/p" and Pod "default/q" have the same uid "1"',
      'no-yaml.yaml:3:1: this is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
      'test.yaml:8:19: one of `file` and `text` is needed in `tests[0].steps[3].objects`',
    ],
    [
      'with things of quite another kind',
      'config: c.yaml\ntests:\n  - 5\n  - name: it\n    steps: [null, 7, { at: 0s, answers: [1], expect: 8 }]\n  - name: that\n    steps: none\n',
      'test.yaml:3:5: `tests[0]` must be a map, found 5',
      'test.yaml:5:13: `tests[1].steps[0]` must be a map, found nothing',
      'test.yaml:5:19: `tests[1].steps[1]` must be a map, found 7',
      'test.yaml:5:41: `tests[1].steps[2].answers` must be a map, found a list',
      'test.yaml:5:54: `tests[1].steps[2].expect` must be a list, found 8',
      'test.yaml:7:12: `tests[2].steps` must be a list, found "none"',
    ],
    [
      'with input that has mistakes',
      'processors: [{ relabel: {} }]\ntests:\n  - name: it\n    steps:\n      - at: 0s\n        input:\n          text: |\n            a 1\n            a 2\n        expect: [{ text: "" }]\n',
      'test.yaml:9:13: a is there twice, first in test.yaml:8',
    ],
  ]
  for (const [name, text, ...expected] of mistakes) {
    it(`${name} are refused, with all places`, () => {
      assert.deepEqual(problemsOf(text).toSorted(), expected.toSorted())
    })
  }

  it('say what was probably meant', () => {
    const folder = suiteFolder({ 'test.yaml': 'test: []\n' })
    const { problems } = readSuite(folder.path('test.yaml'))
    folder.remove()
    assert.ok(problems.some(({ suggestion }) => suggestion === 'tests'))
  })

  it('that expect nothing get a warning', () => {
    const text = withSteps('at: 0s', '{ at: 1s, expect: [] }')
    assert.deepEqual(problemsOf(text), ['test.yaml:3:11: warning: "it" expects nothing at any step'])
  })

  it('may name expected files that do not exist, if those will be written', () => {
    const text = withSteps('{ at: 0s, expect: [{ file: new.prom }] }')
    assert.deepEqual(problemsOf(text), ['test.yaml:5:36: new.prom cannot be read: no such file'])
    assert.deepEqual(problemsOf(text, { mayLackExpected: true }), [])
  })

  it('take objects as a List, as YAML documents, and as text', () => {
    const text = withSteps(
      '{ at: 0s, objects: { file: objects.json } }',
      '{ at: 1s, objects: { text: "{apiVersion: v1, kind: Pod, metadata: {name: p}}" }, expect: [{ text: "" }] }',
    )
    assert.deepEqual(problemsOf(text), [])
  })
})
