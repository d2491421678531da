import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogs, loadInputCatalog } from '../../pipeline/catalog/catalogs.ts'
import { ConfigError } from '../../pipeline/config/config-error.ts'
import { loadConfig } from '../../pipeline/config/loaded-config.ts'
import { packageFile } from '../../pipeline/package-files.ts'
import { createNormalizer, INPUT_CATALOGS, lines } from '../support/normalized.ts'
import { testRegistries } from '../support/test-registries.ts'
import { processors } from '../support/all-components.ts'

const MINE = `kind: input
about: The exporter of another vendor.
requires: [card]
labels: { UUID: { from: [card] } }
devices: { id: [UUID] }
facts:
  - fact: hw.gpu.utilization
    source: its manual
    from: { card_busy_percent: { in: '%' } }
  - fact: mine.gpu.fan
    unit: '{rpm}'
    type: gauge
    range: [0, 10000]
    of: board
    help: Speed of the fan.
    source: its manual
    from: { card_fan_rpm }
`

describe('the catalogs of normalize', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'mine.yaml')
  writeFileSync(path, MINE)

  async function problems(catalogs: readonly string[]): Promise<string[]> {
    const config = {
      receivers: { pull: {} },
      processors: { normalize: { catalogs } },
      exporters: { serve: {} },
      service: { pipelines: { metrics: { receivers: ['pull'], processors: ['normalize'], exporters: ['serve'] } } },
    }
    const file = join(folder, 'config.yaml')
    writeFileSync(file, JSON.stringify(config, undefined, 1))
    try {
      await loadConfig({ files: [file], set: [], registries: { ...testRegistries, processors }, env: {} })
      return []
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return error.problems.map(problem => `${problem.line}:${problem.column}: ${problem.message}`)
    }
  }

  it('may be of the user', () => {
    const text = createNormalizer({ catalogs: ['dcgm', path] }).give(
      'card_busy_percent{card="C1"} 40\ncard_fan_rpm{card="C1"} 900\ncard_fan_rpm 900\nkube_pod_info 1',
    )
    assert.equal(
      text,
      lines(`{"hw.gpu.utilization",UUID="C1"} 0.4
             {"mine.gpu.fan",UUID="C1"} 900
             card_fan_rpm 900
             kube_pod_info 1`),
    )
  })

  it('give a name to the later of two that know it', () => {
    const changed = join(folder, 'changed.yaml')
    writeFileSync(changed, MINE.replace('card_busy_percent', 'DCGM_FI_DEV_GPU_UTIL').replace('requires: [card]\n', ''))
    const row = 'DCGM_FI_DEV_GPU_UTIL{card="C1",UUID="GPU-1"} 40'
    assert.match(createNormalizer({ catalogs: ['dcgm', changed] }).give(row), /UUID="C1"} 0.4/)
    assert.match(createNormalizer({ catalogs: [changed, 'dcgm'] }).give(row), /UUID="GPU-1",card="C1"} 0.4/)
  })

  it('are checked with the config, each mistake with its own place', async () => {
    assert.deepEqual(await problems(['dcgm', path]), [])
    const bad = join(folder, 'bad.yaml')
    writeFileSync(bad, MINE.replace("in: '%'", 'in: furlong').replace('[0, 10000]', '[1, 0]'))
    assert.deepEqual(await problems(['dcgm', bad, 'dgcm']), [
      `9:5: ${bad}:9:38: unknown unit "furlong"`,
      `9:5: ${bad}:13:12: a range goes from the smaller to the larger value, not from 1 to 0`,
      '10:5: there is no catalog "dgcm"; did you mean "dcgm"?',
    ])
  })

  it('have no name in common', () => {
    const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
    const names = INPUT_CATALOGS.flatMap(name => [...loadInputCatalog(catalogs, name).rules.keys()])
    assert.equal(new Set(names).size, names.length)
  })

  it('say the same of a fact wherever it comes from', () => {
    const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
    const facts = new Map<string, unknown>()
    for (const name of INPUT_CATALOGS) {
      for (const { fact } of loadInputCatalog(catalogs, name).rules.values()) {
        assert.equal(facts.get(fact.name) ?? fact, fact)
        facts.set(fact.name, fact)
      }
    }
  })
})
