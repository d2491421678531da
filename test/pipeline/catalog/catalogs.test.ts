import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogs, inputCatalogProblems, loadInputCatalog } from '../../../pipeline/catalog/catalogs.ts'

const FACTS = `kind: facts
facts:
  - { fact: hw.gpu.power, unit: W, type: gauge, range: [0, 10000], of: board, help: Power. }
  - { fact: hw.gpu.energy, unit: J, type: counter, range: [0, 1.0e+13], of: board, help: Energy. }
`
const GOOD = `kind: input
about: A test.
devices: { id: [UUID] }
facts:
  - fact: hw.gpu.power
    source: nowhere
    from: { power_watts, power_milliwatts: { in: mW } }
`

describe('catalogs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  after(() => rmSync(folder, { recursive: true }))
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  write('facts.yaml', FACTS)
  write('good.yaml', GOOD)
  write('broken.yaml', 'facts: { a: 1\n')
  write('list.yaml', '- a\n')
  write('strange.yaml', 'kind: strange\n')
  mkdirSync(join(folder, 'folder.yaml'))
  const catalogs = createCatalogs(folder)

  it('are found by name and by path, and read once', () => {
    const catalog = loadInputCatalog(catalogs, 'good')
    assert.deepEqual([...catalog.rules.keys()], ['power_watts', 'power_milliwatts'])
    assert.deepEqual(catalog.rules.get('power_milliwatts')!.scale, { multiply: 1, divide: 1000 })
    assert.equal(loadInputCatalog(catalogs, 'good'), catalog)
    assert.deepEqual([...loadInputCatalog(catalogs, join(folder, 'good.yaml')).rules.keys()], [...catalog.rules.keys()])
  })

  it('are read again when the file has changed', () => {
    const path = join(folder, 'changing.yaml')
    writeFileSync(path, GOOD)
    const before = loadInputCatalog(catalogs, path)
    writeFileSync(path, GOOD.replace('power_watts, ', ''))
    utimesSync(path, 1, 1)
    const now = loadInputCatalog(catalogs, path)
    assert.deepEqual([before.rules.size, now.rules.size], [2, 1])
  })

  for (const [name, message] of [
    ['godo', /there is no catalog "godo"; did you mean "good"\?/],
    ['x', /there is no catalog "x"; there are .*good/],
    ['./nowhere.yaml', /there is no catalog "\.\/nowhere\.yaml"$/],
    ['broken', /broken\.yaml:1:14: a `{` or `\[` before this is not closed/],
    ['list', /list\.yaml:1:1: a catalog is a map/],
    ['strange', /strange\.yaml:1:7: `kind` must be one of input, facts/],
    ['folder', /catalog "folder" cannot be read/],
    ['facts', /catalog "facts" is no input catalog but one of facts/],
  ] as const) {
    it(`say what is wrong with ${name}`, () => {
      assert.throws(() => loadInputCatalog(catalogs, name), message)
    })
  }

  // Each change of the good catalog, and all that must be said about it.
  for (const [name, change, expected] of [
    ['an unknown unit', [['in: mW', 'in: milliW']], ['7:50: unknown unit "milliW"']],
    [
      'a unit of something else',
      [['in: mW', 'in: MiB']],
      ['7:50: nothing leads from "MiB" to "W", the unit of hw.gpu.power'],
    ],
    [
      'a name that is there twice',
      [['power_milliwatts: {', 'power_watts: {']],
      ['7:26: duplicate key `power_watts`, first in line 7'],
    ],
    [
      'a name in two rows',
      [['mW } }\n', 'mW } }\n  - { fact: hw.gpu.energy, source: x, from: { power_watts } }\n']],
      ['8:47: `power_watts` is here twice, first in line 7'],
    ],
    [
      'two rows for one fact',
      [['mW } }\n', 'mW } }\n  - { fact: hw.gpu.power, source: x, from: { power } }\n']],
      ['8:13: hw.gpu.power has a row already; all its names belong there'],
    ],
    [
      'a fact that nobody defined',
      [['hw.gpu.power', 'hw.gpu.pwoer']],
      ['5:11: hw.gpu.pwoer is not in facts.yaml, so its `type` and its `range` must be said here'],
    ],
    [
      'a range that goes backwards',
      [['fact: hw.gpu.power', 'fact: mine\n    type: gauge\n    unit: W\n    range: [5, 1]']],
      ['8:12: a range goes from the smaller to the larger value, not from 5 to 1'],
    ],
    [
      'a range of one number',
      [['fact: hw.gpu.power', 'fact: mine\n    type: gauge\n    range: [5]']],
      ['7:12: `facts[0].range` must have at least 2 entries'],
    ],
    [
      'a fact in a unit that is no base unit',
      [['fact: hw.gpu.power', 'fact: mine\n    type: gauge\n    unit: mW\n    range: [0, 1]']],
      ['7:11: facts have base units, and "mW" is none'],
    ],
    [
      'a second definition',
      [['fact: hw.gpu.power', 'fact: hw.gpu.power\n    unit: W']],
      ['6:5: `unit` of hw.gpu.power is said in facts.yaml'],
    ],
    ['a missing source', [['    source: nowhere\n', '']], ['5:5: `source` is missing in `facts[0]`']],
    ['an unknown key', [['source:', 'sorce: x\n    source:']], ['6:5: unknown key `sorce` in `facts[0]`']],
    ['an object that is not there', [['source:', 'object: pod\n    source:']], ['6:13: no `pod` in `objects`']],
    ['more names than facts', [['{ power_watts,', '{ "power_{0..1}",']], ['7:13: 2 names for 1 facts']],
    [
      'a fact of a GPU without a word on what names one',
      [['devices: { id: [UUID] }\n', '']],
      ['4:11: hw.gpu.power is of a GPU, so the catalog must say in `devices` how a row names one'],
    ],
  ] as const) {
    it(`say where there is ${name}`, () => {
      let text: string = GOOD
      for (const [from, to] of change) {
        assert.ok(text.includes(from), `"${from}" is not in the catalog`)
        text = text.replace(from, to)
      }
      const path = join(folder, `${name.replaceAll(' ', '-')}.yaml`)
      writeFileSync(path, text)
      assert.throws(
        () => loadInputCatalog(catalogs, path),
        (error: Error) => {
          const lines = error.message.split('\n').filter(line => line.startsWith(path))
          assert.deepEqual(
            lines.map(line => line.slice(path.length + 1)),
            expected,
          )
          return true
        },
      )
    })
  }

  it('are all right as they are shipped', () => {
    const names = ['dcgm', 'amd', 'kube-state-metrics', 'kubelet', 'node-exporter', 'runai-node-exporter']
    assert.deepEqual(inputCatalogProblems(names), [])
  })
})
