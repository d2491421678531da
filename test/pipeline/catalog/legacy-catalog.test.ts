import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogs } from '../../../pipeline/catalog/catalogs.ts'
import { translationProblems } from '../../../pipeline/catalog/translation-problems.ts'
import type { ConfigError } from '../../../pipeline/config/config-error.ts'

const NEWEST = `kind: output
about: The newest.
labels: { node: node, workload: workload_id }
metrics:
  - { metric: new_bytes, help: X., unit: By, of: pod, level: workload, labels: [workload], aggregate: sum, from: memory_requests }
  - { metric: kept, help: X., of: pod, level: workload, labels: [workload], aggregate: count }
`
const GOOD = `kind: legacy
about: The one before.
successor: newest
variants: [usual, other]
labels: { job: job_id }
metrics:
  - { metric: old_kib, becomes: new_bytes, unit: KiB, labels: [job], source: x }
  - { metric: kept, becomes: kept, labels: [job], variants: { other: { labels: [node] } }, source: x }
  - { metric: gone, reason: No more., source: x }
`

describe('legacy catalogs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string): void => writeFileSync(join(folder, `${name}.yaml`), text)
  for (const name of [
    'facts',
    'dcgm',
    'amd',
    'kube-state-metrics',
    'kubelet',
    'node-exporter',
    'runai-node-exporter',
  ]) {
    write(name, name === 'facts' ? 'kind: facts\nfacts: []\n' : 'kind: input\nabout: Nothing.\nfacts: []\n')
  }
  write('newest', NEWEST)
  write('good', GOOD)
  const catalogs = createCatalogs(folder)

  it('are read', () => {
    assert.equal((catalogs.load('good') as { kind: string }).kind, 'legacy')
  })

  // Each change of the good catalog, and all that must be said about it.
  let number = 0
  for (const [name, change, expected] of [
    ['a unit that nobody knows', ['KiB', 'KiBB'], ['7:50: unknown unit "KiBB"']],
    [
      'a unit that is told and that nobody knows',
      ['labels: { job: job_id }', 'labels: { job: job_id }\ntold_units: { kept: { unit: foo, help: [x] } }'],
      ['6:29: unknown unit "foo"'],
    ],
    ['a unit of something else', ['KiB', 's'], ['7:50: nothing leads from "s" to "By", the unit of new_bytes']],
    [
      'a unit that the successor says otherwise',
      ['unit: KiB', 'unit: KiB, new_unit: MB'],
      ['7:65: new_bytes is in "By", as newest says'],
    ],
    [
      'a metric that is not there',
      ['becomes: new_bytes', 'becomes: new_byte'],
      ['7:33: newest has no metric new_byte'],
    ],
    [
      'a metric that is there twice',
      ['metric: gone', 'metric: kept'],
      ['9:15: kept is here twice: it is also `metrics[1]`'],
    ],
    [
      'names that go round',
      [
        'metrics:\n',
        'metrics:\n  - { metric: new_bytes, becomes: kept, source: x }\n  - { metric: kept, becomes: new_bytes, source: x }\n',
      ],
      [
        '8:30: a loop: new_bytes, which becomes kept, which becomes new_bytes again',
        '10:15: kept is here twice: it is also `metrics[1]`',
      ],
    ],
    ['nothing without a reason', ['reason: No more., ', ''], ['9:5: gone becomes nothing; why? `reason` is missing']],
    ['a status that is not so', ['unit: KiB', 'unit: KiB, status: same'], ['7:63: old_kib is new_bytes now: renamed']],
    [
      'a removed metric that becomes something',
      ['unit: KiB', 'unit: KiB, status: removed'],
      ['7:63: old_kib is removed and becomes new_bytes'],
    ],
    [
      'a variant that is not there',
      ['{ other:', '{ otter:'],
      ['8:63: there is no variant "otter" in `variants` of the catalog'],
    ],
    [
      'a variant that is the usual one',
      ['{ other:', '{ usual:'],
      ['8:63: usual is the usual variant, and the metric itself'],
    ],
    [
      'a label that nobody defines',
      ['labels: [node]', 'labels: [nod]'],
      ['8:81: label `nod` is not defined under `labels` of the catalog'],
    ],
    ['a label that is nothing', ['job: job_id', 'job: jobid'], ['5:16: "jobid" is nothing that a label can be']],
    [
      'a successor that is not there',
      ['successor: newest', 'successor: newset'],
      ['3:12: there is no catalog "newset"; did you mean "newest"?'],
    ],
    [
      'a successor without generations',
      ['successor: newest', 'successor: facts'],
      ['3:12: catalog "facts" has no older or newer names: it is one of facts'],
    ],
    [
      'no successor',
      ['successor: newest\n', ''],
      ['6:3: what differs, differs from the next generation: `successor` is missing'],
    ],
    ['numbers that do not fit', ['metric: old_kib', "metric: 'old_{0..3}'"], ['7:38: 1 names for 4 metrics']],
  ] as const) {
    it(`with ${name} are not`, () => {
      const file = `bad-${number++}`
      const text = GOOD.replace(change[0], change[1])
      assert.notEqual(text, GOOD)
      write(file, text)
      const problems = problemsOf(() => catalogs.load(file))
      assert.deepEqual(problems, expected)
    })
  }

  it('that come after each other are an error, not a hang', () => {
    write('one', GOOD.replace('successor: newest', 'successor: two'))
    write('two', GOOD.replace('successor: newest', 'successor: one'))
    assert.match(problemsOf(() => catalogs.load('one')).join(), /two.*comes after itself/)
  })

  it('of a config are checked with it, each mistake at its option', () => {
    const path = join(folder, 'wrong.yaml')
    writeFileSync(path, GOOD.replace('KiB', 'KiBB').replace('successor: newest', 'successor: runai-2.17'))
    const { problems } = translationProblems('runai-2.71', path, undefined)
    assert.deepEqual(
      problems.map(({ path: at }) => at),
      [['from'], ['to'], ['to'], ['to']],
    )
    assert.match(problems[2]!.message, /wrong\.yaml:7:50: unknown unit "KiBB"/)
  })
})

function problemsOf(load: () => unknown): string[] {
  try {
    load()
    return []
  } catch (error) {
    return (error as ConfigError).problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)
  }
}
