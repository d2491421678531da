/** Real scrapes, and the list of all names that DCGM ever gave its fields. They lie beside the checkout. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCatalogs, loadInputCatalog } from '../../pipeline/catalog/catalogs.ts'
import { createTextReader } from '../../pipeline/formats/prometheus-text.ts'
import { forEachSample, type Batch } from '../../pipeline/model/batch.ts'
import { getLabel } from '../../pipeline/model/labels.ts'
import { labelsAt, metricAt } from '../../pipeline/model/layout.ts'
import { packageFile } from '../../pipeline/package-files.ts'
import { createSource } from '../support/batch-from-text.ts'
import { createNormalizer } from '../support/normalized.ts'
import { sharedPath } from '../support/shared.ts'

function read(path: string): Batch {
  const reader = createTextReader()
  reader.begin('text')
  reader.push(readFileSync(path))
  const { layout, values, times } = reader.finish()
  return { source: createSource(path), timeMs: 0, outcome: 'ok', layout, values, ...(times && { times }) }
}

function filesIn(...parts: string[]): string[] {
  const folder = sharedPath(...parts)
  return folder === undefined ? [] : readdirSync(folder).map(file => join(folder, file))
}

/** Not numbers: texts and blobs, which an exporter can show as labels at most, and markers that are no fields. */
const NOT_NUMBERS = new Set([
  'DCGM_FI_MAX_VGPU_FIELDS',
  'DCGM_FI_MAX_NVSWITCH_FIELDS',
  'DCGM_FI_UNKNOWN',
  'DCGM_FI_BIND_UNBIND_EVENT',
  'DCGM_FI_GPU_TOPOLOGY_PCI',
  'DCGM_FI_GPU_TOPOLOGY_NVLINK',
  'DCGM_FI_GPU_TOPOLOGY_AFFINITY',
  'DCGM_FI_DEV_SUPPORTED_CLOCKS',
  'DCGM_FI_DEV_ACCOUNTING_DATA',
  'DCGM_FI_DEV_SUPPORTED_TYPE_INFO',
  'DCGM_FI_DEV_CREATABLE_VGPU_TYPE_IDS',
  'DCGM_FI_DEV_VGPU_INSTANCE_IDS',
  'DCGM_FI_DEV_VGPU_UTILIZATIONS',
  'DCGM_FI_DEV_VGPU_PER_PROCESS_UTILIZATION',
  'DCGM_FI_DEV_SUPPORTED_VGPU_TYPE_IDS',
  'DCGM_FI_DEV_GPU_NVLINK_ERRORS',
])

const dcgm = filesIn('captures', 'dcgm')
const others = [
  ...filesIn('captures', 'ksm'),
  ...['ksm_metrics', 'kubelet_metrics_cadvisor'].map(name => sharedPath('captures', 'newrelic-k8s-1_34', name)!),
].filter(path => path !== undefined)

describe('normalize: real scrapes', () => {
  for (const path of dcgm) {
    it(`dcgm-exporter, ${path.split('/').at(-1)}: all becomes facts, one for each device, all of them possible`, () => {
      const { consume, host } = createNormalizer()
      const batch = read(path)
      const facts = consume(batch)
      const seen = new Set<string>()
      forEachSample(facts, column => {
        const { name } = metricAt(facts.layout, column)
        const labels = labelsAt(facts.layout, column)
        // A blob that an exporter printed all the same passes as it is.
        if (!NOT_NUMBERS.has(name)) assert.match(name, /^(hw\.gpu|dcgm)\./)
        const key = [name, ...['UUID', 'GPU_I_ID', 'nvswitch'].map(label => getLabel(labels, label) ?? '')].join(' ')
        assert.ok(!seen.has(key), `${key} is there twice`)
        seen.add(key)
      })
      assert.ok(seen.size > 0)
      assert.equal(host.counted.get('gpucol_processor_out_of_range_metric_points'), undefined)
    })
  }

  for (const path of others) {
    it(`${path.split('/').at(-1)}: no value is out of range, and no series is lost but sums`, () => {
      const { consume, host } = createNormalizer()
      const batch = read(path)
      const facts = consume(batch)
      const lost = batch.values.length - facts.values.length
      assert.equal(host.counted.get('gpucol_processor_out_of_range_metric_points'), undefined)
      if (!path.includes('cadvisor')) assert.equal(lost, 0)
      else {
        const containers = facts.layout.metrics.findIndex(({ name }) => name === 'container.cpu.time')
        const rows = facts.layout.metricOf.filter(metric => metric === containers).length
        assert.ok(rows > 10 && lost > 3 * rows, `${rows} containers, ${lost} sums`)
      }
    })
  }

  const a800 = dcgm.find(path => path.includes('A800'))
  if (a800 !== undefined) {
    it('has the energy of a board with three instances once', () => {
      const facts = createNormalizer().consume(read(a800))
      const values: number[] = []
      forEachSample(facts, (column, value) => {
        if (metricAt(facts.layout, column).name !== 'hw.gpu.energy') return
        if (getLabel(labelsAt(facts.layout, column), 'gpu') === '0') values.push(value)
      })
      assert.deepEqual(values, [257858.316])
    })
  }
})

const renames = sharedPath('reference', 'dcgm_field_renames.csv')
if (renames !== undefined) {
  describe('normalize: every name that DCGM gave a field', () => {
    const { rules, labels } = loadInputCatalog(createCatalogs(packageFile('configs', 'catalogs')), 'dcgm')
    const rows = readFileSync(renames, 'utf8').trim().split('\n').slice(1)

    it('leads to one fact, or is one label, with its older name', () => {
      assert.equal(rows.length, 382)
      const wrong: string[] = []
      for (const row of rows) {
        const [, before, now] = row.split(',') as [string, string, string]
        if (NOT_NUMBERS.has(before)) continue
        const [older, newer] = [rules.get(before), rules.get(now)]
        const isLabel = labels[before]?.from.includes(now)
        if (!isLabel && (older === undefined || newer === undefined || older.fact !== newer.fact)) wrong.push(row)
      }
      assert.deepEqual(wrong, [])
    })

    it('says for each change of unit by how much', () => {
      for (const row of rows.filter(line => line.includes('new-unit'))) {
        const [, before, now, kind] = row.split(',') as [string, string, string, string]
        const { multiply, divide } = rules.get(before)!.scale
        const factor = { 'MiB->bytes': 1048576, 'MHz->Hz': 1e6, 'mJ->J': 1e-3, 'percent->ratio': 1e-2 }[
          kind.split(' ')[1]!
        ]
        assert.equal(multiply / divide, factor, row)
        assert.deepEqual(rules.get(now)!.scale, { multiply: 1, divide: 1 })
      }
    })

    it('calls those unverified that are known by pattern only', () => {
      const unverified = [...rules].filter(([, rule]) => rule.unverified).map(([name]) => name)
      assert.deepEqual(unverified.sort(), [
        'DCGM_FI_DEV_DEC_UTIL_RATIO',
        'DCGM_FI_DEV_ENC_UTIL_RATIO',
        'DCGM_FI_DEV_FB_FREE_BYTES',
        'DCGM_FI_DEV_FB_RESERVED_BYTES',
        'DCGM_FI_DEV_FB_USED_BYTES',
        'DCGM_FI_DEV_MEM_COPY_UTIL_RATIO',
      ])
    })
  })
}
