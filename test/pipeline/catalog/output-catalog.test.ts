import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createCatalogs,
  loadOutputCatalog,
  outputCatalogProblems,
  outputMetricProblems,
} from '../../../pipeline/catalog/catalogs.ts'
import type { OutputMetric } from '../../../pipeline/catalog/output-schema.ts'
import { packageFile } from '../../../pipeline/package-files.ts'
import { sharedJson } from '../../support/shared.ts'

const catalogs = createCatalogs(packageFile('configs', 'catalogs'))

/** What the published list calls units, in UCUM; numbers without a unit have none. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  '%': ['%'],
  MiB: ['MiB'],
  MegaBytes: ['MB'],
  Bytes: ['By'],
  'CPU Cores': ['{core}'],
  '0 to 1': ['1'],
  Seconds: ['s'],
  'Unix time': ['s'],
  'Seconds (Unix Timestamp)': ['s'],
  Double: ['', '{core}'],
  Integer: ['{millicore}'],
  Number: [''],
  '0/1': [''],
  'N/A': [''],
}

type Published = {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[]; readonly unit: string }[]
  readonly passthroughMetrics: readonly { readonly name: string }[]
}

describe('the catalog of Run:ai 2.17', () => {
  const published = sharedJson<Published>('reference', 'runai-catalog.json')
  if (published === undefined) return
  const { metrics, pass } = loadOutputCatalog(catalogs, 'runai-2.17')

  it('has the 44 names that are published, and no other', () => {
    const names = published.metrics.map(({ name }) => name)
    assert.equal(new Set(names).size, 44)
    assert.deepEqual(metrics.map(({ metric }) => metric).sort(), names.sort())
  })

  it('has their labels and units', () => {
    for (const { name, labels, unit } of published.metrics) {
      const metric = metrics.find(one => one.metric === name)!
      assert.deepEqual([...metric.labels].sort(), [...labels].sort(), name)
      assert.ok(UNITS[unit]?.includes(metric.unit), `${name} is in ${metric.unit}, published in ${unit}`)
    }
  })

  it('says of each where its definition is known from, and what was decided', () => {
    const silent = metrics.filter(({ source, decision }) => source === undefined || decision === undefined)
    assert.deepEqual(
      silent.map(({ metric }) => metric),
      [],
    )
  })

  it('passes the five names that are published and are not among the 44', () => {
    const names = published.passthroughMetrics.map(({ name }) => name)
    const others = names.filter(name => !metrics.some(({ metric }) => metric === name))
    assert.equal(others.length, 5)
    assert.deepEqual(pass.map(({ metric }) => metric).sort(), others.sort())
  })

  it('says for each where its definition is known from', () => {
    for (const { metric, source } of metrics) assert.ok(source, metric)
  })
})

/** A metric that is right, as the lines of a catalog. */
const GOOD = {
  metric: 'a',
  help: 'H.',
  of: 'gpu',
  level: 'node',
  labels: '[node]',
  aggregate: 'sum',
  from: 'hw.gpu.memory.usage',
}

function catalogText(changes: Readonly<Record<string, string | undefined>>, more = ''): string {
  const entries = Object.entries({ ...GOOD, ...changes }).filter(([, value]) => value !== undefined)
  const lines = entries.map(([key, value], i) => `${i === 0 ? '  - ' : '    '}${key}: ${value}\n`)
  const labels = '{ node: node, workload: workload_name, pod: pod }'
  return `kind: output\nabout: A test.\nlabels: ${labels}\nmetrics:\n${lines.join('')}${more}`
}

describe('the page on catalogs', () => {
  const page = readFileSync(packageFile('configs', 'catalogs/README.md'), 'utf8')
  const example = (file: string): string => readFileSync(packageFile('configs', 'catalogs/examples', file), 'utf8')

  it('shows its examples as they are', () => {
    const catalog = example('energy.yaml')
    assert.ok(page.includes(catalog.slice(catalog.indexOf('kind:'))))
    const config = example('energy.config.yaml')
    assert.ok(page.includes(config.slice(config.indexOf('  roll_up:'), config.indexOf('exporters:'))))
  })

  it('shows a mistake as it is shown', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const path = join(folder, 'energy.yaml')
    writeFileSync(path, example('energy.yaml').replace('hw.gpu.power', 'hw.gpu.pwoer'))
    const [problem] = outputCatalogProblems(path)
    rmSync(folder, { recursive: true })
    assert.ok(page.includes(problem!.replace(path, 'energy.yaml')), problem!)
  })
})

describe('output catalogs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  const path = join(folder, 'mine.yaml')
  after(() => rmSync(folder, { recursive: true }))

  function problemsOf(text: string): string[] {
    writeFileSync(path, text)
    return outputCatalogProblems(path).map(problem => problem.replace(`${path}:`, ''))
  }

  it('of this repository are right', () => {
    for (const name of ['runai-2.17', 'unattributed', 'dstack', 'baseten'])
      assert.deepEqual(outputCatalogProblems(name), [])
  })

  it('show what is wrong with a metric also where another is refused by the schema', () => {
    const metrics = [
      '  - { metric: a, help: A., of: pod, level: node, aggregate: median, from: gpus }',
      '  - { metric: b, help: B., of: pod, level: node, aggregate: sum, from: gpu }',
      '  - { metric: b, help: B., of: pod, level: node, aggregate: sum, from: gpus }',
    ]
    const problems = problemsOf(['kind: output', 'about: Mine.', 'labels: {}', 'metrics:', ...metrics, ''].join('\n'))
    assert.deepEqual(
      problems.map(problem => problem.slice(0, 30)),
      ['5:61: `metrics[0].aggregate` m', '6:72: nothing is known of a po', '7:15: b is here twice: it is a'],
    )
    assert.ok(problems[2]!.endsWith('`metrics[1]`'))
  })

  it('may be as small as one metric', () => {
    assert.deepEqual(problemsOf(catalogText({})), [])
  })

  // What is changed in a good metric, and what is said about it, with line and column in the file.
  for (const [changes, message] of [
    [{ unit: 'MB/min' }, /^12:11: unknown unit "MB\/min"; there are 1, %, By, /],
    [{ unit: 'GIB' }, /^12:11: unknown unit "GIB"; did you mean `GiB`\?$/],
    [{ unit: 'W' }, /^12:11: hw.gpu.memory.usage is in By, from which "W" cannot be had$/],
    [
      { from: 'hw.gpu.memory.use' },
      /^11:11: there is no fact "hw.gpu.memory.use"; did you mean `hw.gpu.memory.usage`\?$/,
    ],
    [{ from: '[hw.gpu.memory.usage, hw.gpu]' }, /^11:33: there is no fact "hw.gpu"/],
    [{ of: 'pod', from: 'gpu' }, /^11:11: nothing is known of a pod as "gpu"; did you mean `gpus`\?$/],
    [{ of: 'pod', from: 'watts' }, /^11:11: nothing is known of a pod as "watts"; there are gpus, gpu_memory, /],
    [{ of: 'node', from: 'pod.label.price' }, /^11:11: nothing is known of a node as "pod.label.price"/],
    [{ from: undefined }, /^10:16: sum of what\? `from` is missing$/],
    [
      { labels: '[node, nod]' },
      /^9:20: label `nod` is not defined under `labels` of the catalog; did you mean `node`\?$/,
    ],
    [
      { labels: '[workload]' },
      /^9:14: `workload` is workload_name, which is not known at the level node; there are cluster, node, nodepool, /,
    ],
    [{ level: 'pod' }, /^8:12: `of: gpu` has no level pod; there are gpu, node, nodepool, cluster$/],
    [{ level: 'nodes' }, /^8:12: `metrics\[0\].level` must be gpu, .*, found "nodes"; did you mean `node`\?$/],
    [{ aggregate: 'avg' }, /^10:16: `metrics\[0\].aggregate` must be sum, mean, .*, found "avg"$/],
    [{ aggregate: 'ratio' }, /^10:16: `ratio` and `over` go together$/],
    [{ over: 'hw.gpu.memory.free' }, /^10:16: `ratio` and `over` go together$/],
    [{ of: 'workload', level: 'workload', labels: '[]' }, /^10:16: of workloads there are idle_seconds, .*`of: pair`/],
    [{ of: 'pair', level: 'workload', aggregate: 'idle_seconds' }, /^7:9: idle_seconds is there for `of: workload`$/],
    [
      { of: 'workload', level: 'user', aggregate: 'idle_seconds', labels: '[]' },
      /^8:12: idle_seconds is there at the level workload$/,
    ],
    [
      { only: '{ workload_typ: inference }' },
      /^12:27: "workload_typ" is nothing that a label can be; did you mean `workload_type`/,
    ],
    [{ form: 'x' }, /^12:5: unknown key `form` in `metrics\[0\]`; did you mean `from`\?$/],
    [{ help: undefined }, /^5:5: `help` is missing in `metrics\[0\]`$/],
  ] as const) {
    it(`say what is wrong with ${JSON.stringify(changes)}`, () => {
      const problems = problemsOf(catalogText(changes))
      assert.equal(problems.length, 1, problems.join('\n'))
      assert.match(problems[0]!, message)
    })
  }

  // A line more behind a good metric.
  for (const [more, message] of [
    ['pass: [{ metric: a }]\n', /^12:18: a is here twice: it is also `metrics\[0\]`$/],
    ['pass: [{ metric: b, labels: [nodes] }]\n', /^12:30: label `nodes` is not defined/],
    [
      '  - { metric: a, help: H., of: node, level: node, aggregate: count }\n',
      /^12:15: a is here twice: it is also `metrics\[0\]`$/,
    ],
  ] as const) {
    it(`say what is wrong with ${more.trim()}`, () => {
      const problems = problemsOf(catalogText({}, more))
      assert.equal(problems.length, 1, problems.join('\n'))
      assert.match(problems[0]!, message)
    })
  }

  // What a label is said to be.
  for (const [attribute, message] of [
    ['pdo', /^3:17: "pdo" is nothing that a label can be; did you mean `pod`\?$/],
    [
      'namespace.lable.team',
      /^3:17: "namespace.lable.team" is nothing that a label can be; there are look-ups \(pod, owner,/,
    ],
  ] as const) {
    it(`say what is wrong with a label that is ${attribute}`, () => {
      const [problem] = problemsOf(`kind: output\nabout: A test.\nlabels: { team: ${attribute} }\n`)
      assert.match(problem!, message)
    })
  }

  it('can be looked up in numbers that are written on nodes and around pods', () => {
    assert.deepEqual(problemsOf(catalogText({ of: 'node', from: 'node.annotation.price' })), [])
    assert.deepEqual(problemsOf(catalogText({ of: 'pod', from: 'namespace.label.price' })), [])
  })

  it('are named where there is none of that name, or it is of another kind', () => {
    assert.deepEqual(outputCatalogProblems('runai-2.71'), [
      'there is no catalog "runai-2.71"; did you mean "runai-2.17"?',
    ])
    assert.deepEqual(outputCatalogProblems('dcgm'), ['catalog "dcgm" is no output catalog but one of input'])
  })

  it('are added to in a config, which is checked with the labels of the catalogs it names', () => {
    const metric: OutputMetric = {
      metric: 'a',
      help: 'H.',
      type: 'gauge',
      unit: '',
      of: 'gpu',
      level: 'node',
      labels: ['node'],
      aggregate: 'sum',
      from: 'hw.gpu.memory.usage',
      rate: false,
      complement: false,
      weight: 'device',
      where: [],
      match: {},
      only: {},
      per: [],
    }
    assert.deepEqual(outputMetricProblems(['runai-2.17'], [metric]), [])
    assert.deepEqual(outputMetricProblems(['dstack'], [metric]), [
      { path: [0, 'labels', 0], message: 'label `node` is not defined under `labels` of the catalog' },
    ])
    assert.deepEqual(outputMetricProblems(['runai-2.17'], [metric, metric]), [
      { path: [1, 'metric'], message: 'a is here twice' },
    ])
  })
})
