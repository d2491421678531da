import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createCatalogs } from '../../../pipeline/catalog/catalogs.ts'
import { generationOf } from '../../../pipeline/catalog/generations.ts'
import { loadTranslation, type ShapeTranslation, type Translation } from '../../../pipeline/catalog/translation.ts'
import { packageFile } from '../../../pipeline/package-files.ts'
import { sharedJson, sharedPath } from '../../support/shared.ts'

const catalogs = createCatalogs(packageFile('configs', 'catalogs'))
const load = (from: string, to: string, variant?: string): Translation => loadTranslation(catalogs, from, to, variant)

/** What changes in one line: `x 1/1000  a>b c=d  -e  +f`, where = keeps the value. */
function inWords({ scale, labels }: ShapeTranslation): string {
  const { renamed, removed, added, fixed, match } = labels
  const pairs = (one: Readonly<Record<string, string>>, sign: string): string[] =>
    Object.entries(one).map(([name, value]) => `${sign}${name}:${value}`)
  return [
    ...(scale.multiply === scale.divide ? [] : [`x${scale.multiply}/${scale.divide}`]),
    ...renamed.map(({ from, to, sameValue }) => `${from}${sameValue ? '=' : '>'}${to}`),
    ...removed.map(name => `-${name}`),
    ...added.map(name => `+${name}`),
    ...pairs(fixed, '+'),
    ...pairs(match, '-'),
  ].join(' ')
}

function check(from: string, to: string, metric: string, expected: readonly string[], variant?: string): void {
  it(`${metric} of ${from} is ${expected.map(line => line.split(' ')[0]).join(' and ')} in ${to}${variant ? `, ${variant}` : ''}`, () => {
    const all = load(from, to, variant).metrics.get(metric) ?? []
    const lines = all.flatMap(its =>
      its.shapes.map((shape, i) => [i === 0 ? its.to : ' or', inWords(shape)].join(' ').trimEnd()),
    )
    assert.deepEqual(lines, expected)
  })
}

describe('a translation', () => {
  const JOB = 'job_uuid>workload_id job_name>workload_name job_type=workload_type'
  const WORKLOAD = 'workload_id>job_uuid workload_name>job_name workload_type=job_type'
  check('runai-2.16', 'runai-2.17', 'runai_job_total_runtime', [
    'runai_run_time_seconds_per_workload job_uuid>workload_id +workload_name',
  ])
  check('runai-2.17', 'runai-2.16', 'runai_run_time_seconds_per_workload', [
    'runai_job_total_runtime workload_id>job_uuid -workload_name',
  ])
  check('runai-2.16', 'runai-2.17', 'runai_job_requested_gpu_memory', [
    'runai_requested_gpu_memory_mb_per_workload x1/1000000 +workload_id',
  ])
  check('runai-2.16', 'runai-2.17', 'runai_gpu_memory_used_mebibytes_per_workload', [
    `runai_gpu_memory_used_mebibytes_per_workload ${JOB}`,
    ' or x1/1048576 job_uuid>workload_id +workload_name +workload_type +user',
  ])
  check('runai-2.17', 'runai-2.16', 'runai_gpu_memory_used_mebibytes_per_workload', [
    `runai_gpu_memory_used_mebibytes_per_workload ${WORKLOAD}`,
  ])
  check(
    'runai-2.17',
    'runai-2.16',
    'runai_gpu_memory_used_mebibytes_per_workload',
    [
      'runai_gpu_memory_used_mebibytes_per_workload x1048576/1 workload_id>job_uuid -workload_name -workload_type -user',
    ],
    'before-2.9',
  )
  check('runai-2.17', 'runai-2.16', 'runai_gpu_memory_used_mebibytes_per_node', [
    'runai_gpu_memory_used_mebibytes_per_node',
    'runai_node_gpu_used_memory_bytes x1048576/1',
  ])
  check('runai-2.17', 'runai-2.16', 'runai_active_job_memory_requested_bytes', [
    'runai_active_job_memory_requested_bytes',
    'runai_running_job_memory_requested_bytes',
  ])
  check('runai-2.16', 'runai-2.17', 'runai_project_info', ['runai_project_info department_name=department'])
  check('runai-2.16', 'runai-2.17', 'runai_gpu_count_per_node', [
    'runai_gpu_count_per_node +modelName +ready +schedulable',
  ])
  check('runai-2.16', 'runai-2.17', 'runai_cluster_cpu_utilization', [])

  // Over two steps, also of what changed in one of them only.
  check('runai-2.12', 'runai-2.17', 'runai_running_job_cpu_limit_cores', ['runai_cpu_limits_per_active_workload'])
  check('runai-2.12', 'runai-2.17', 'runai_job_used_gpu_memory_bytes', [
    'runai_gpu_memory_used_mebibytes_per_workload x1/1048576 job_uuid>workload_id +workload_name +workload_type +user',
  ])
  check('runai-2.12', 'runai-2.17', 'runai_job_total_wait_time', [
    'runai_wait_time_seconds_per_workload job_uuid>workload_id +workload_name',
  ])
  check('runai-2.12', 'runai-2.16', 'runai_job_gpu_utilization', [
    'runai_gpu_utilization_per_workload -project +job_type +user',
  ])
  check('runai-2.17', 'runai-2.12', 'runai_allocated_gpu_count_per_gpu', ['runai_gpu_is_allocated'])
  check('runai-2.17', 'runai-2.12', 'runai_gpu_utilization_per_workload', [
    `runai_gpu_utilization_per_workload ${WORKLOAD}`,
    'runai_job_gpu_utilization workload_id>job_uuid workload_name>job_name -workload_type -user +project',
  ])

  check('kube-state-metrics-1', 'kube-state-metrics-2', 'kube_node_status_capacity_cpu_cores', [
    'kube_node_status_capacity +resource:cpu +unit:core',
  ])
  check('kube-state-metrics-2', 'kube-state-metrics-1', 'kube_pod_container_resource_limits', [
    'kube_pod_container_resource_limits',
    'kube_pod_container_resource_limits_cpu_cores -resource:cpu -unit:core',
    'kube_pod_container_resource_limits_memory_bytes -resource:memory -unit:byte',
    'kube_pod_container_resource_limits_nvidia_gpu_devices -resource:nvidia_com_gpu -unit:integer',
  ])
  check('kube-state-metrics-1', 'kube-state-metrics-2', 'kube_hpa_spec_max_replicas', [
    'kube_horizontalpodautoscaler_spec_max_replicas hpa=horizontalpodautoscaler',
  ])
  check('kube-state-metrics-2', 'kube-state-metrics-1', 'kube_volumeattachment_info', [
    'kube_volumeattachment_info node=nodeName',
  ])

  for (const [from, to, metric, target, scale] of [
    ['dcgm-exporter-4.8', 'dcgm-exporter-4.9', 'DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_DEV_GPU_UTIL_RATIO', '1/100'],
    ['dcgm-exporter-4.9', 'dcgm-exporter-4.8', 'DCGM_FI_DEV_GPU_UTIL_RATIO', 'DCGM_FI_DEV_GPU_UTIL', '100/1'],
    ['dcgm-exporter-1', 'dcgm-exporter-4.8', 'dcgm_gpu_utilization', 'DCGM_FI_DEV_GPU_UTIL', '1/1'],
    ['dcgm-exporter-1', 'dcgm-exporter-4.9', 'dcgm_gpu_utilization', 'DCGM_FI_DEV_GPU_UTIL_RATIO', '1/100'],
    [
      'dcgm-exporter-4.9',
      'dcgm-exporter-1',
      'DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL',
      'dcgm_total_energy_consumption',
      '1000/1',
    ],
    ['dcgm-exporter-4.8', 'dcgm-exporter-4.9', 'DCGM_FI_DEV_SM_CLOCK', 'DCGM_FI_DEV_SM_CLOCK_HERTZ', '1000000/1'],
  ] as const) {
    it(`${metric} of ${from} is ${target} in ${to}, times ${scale}`, () => {
      const [its] = load(from, to).metrics.get(metric)!
      const [shape] = its!.shapes
      assert.deepEqual([its!.to, `${shape!.scale.multiply}/${shape!.scale.divide}`], [target, scale])
    })
  }

  it('names what only one generation has, and why', () => {
    const { metrics, removed } = load('runai-2.17', 'runai-2.16')
    assert.deepEqual(
      metrics.get('runai_queue_info')!.map(({ to, reason }) => [to, reason]),
      [[undefined, 'runai-2.16 has no such metric']],
    )
    assert.deepEqual(
      removed.map(({ metric, computed }) => `${metric} ${computed ?? 'no more'}`),
      [
        'runai_gpu_utilization_non_fractional_jobs runai-2.16-computed',
        'runai_job_image runai-2.16-computed',
        'runai_job_swap_memory_used_bytes runai-2.16-computed',
        'runai_deployment_request_rate no more',
        'runai_deployment_request_latencies no more',
      ],
    )
  })

  it('knows which names nobody confirms', () => {
    const { metrics } = load('dcgm-exporter-4.8', 'dcgm-exporter-4.9')
    const unverified = [...metrics.values()].flat().filter(({ isUnverified }) => isUnverified)
    assert.deepEqual(unverified.map(({ from }) => from).sort(), [
      'DCGM_FI_DEV_DEC_UTIL',
      'DCGM_FI_DEV_ENC_UTIL',
      'DCGM_FI_DEV_FB_FREE',
      'DCGM_FI_DEV_FB_RESERVED',
      'DCGM_FI_DEV_FB_USED',
      'DCGM_FI_DEV_MEM_COPY_UTIL',
    ])
  })

  for (const [from, to, variant, message] of [
    ['runai-2.17', 'runai-2.71', undefined, /there is no catalog "runai-2\.71"; did you mean "runai-2\.17"\?/],
    ['runai-2.17', 'runai-2.17', undefined, /nothing is to be translated from runai-2\.17 to runai-2\.17/],
    [
      'runai-2.16',
      'kube-state-metrics-2',
      undefined,
      /nothing leads from runai-2\.16 to kube-state-metrics-2; runai-2\.16 leads to runai-2\.17, kube-state-metrics-2 is the newest of its kind/,
    ],
    ['dcgm', 'runai-2.17', undefined, /catalog "dcgm" has no older or newer names: it is one of input/],
    ['runai-2.17', 'runai-2.16', '2.9', /runai-2\.16 has no variant "2\.9"; there are since-2\.9, before-2\.9/],
    ['runai-2.17', 'runai-2.12', 'since-2.9', /runai-2\.12 has no variant "since-2\.9"; it has none/],
  ] as const) {
    it(`says why there is none from ${from} to ${to}${variant ? `, ${variant}` : ''}`, () => {
      assert.throws(() => load(from, to, variant), message)
    })
  }

  for (const [older, newer] of [
    ['runai-2.16', 'runai-2.17'],
    ['runai-2.12', 'runai-2.17'],
    ['dcgm-exporter-1', 'dcgm-exporter-4.9'],
    ['kube-state-metrics-1', 'kube-state-metrics-2'],
  ] as const) {
    it(`from ${older} to ${newer} and back is where it began`, () => {
      const [there, back] = [load(older, newer), load(newer, older)]
      for (const { from, to, shapes } of [...there.metrics.values()].flat()) {
        if (to === undefined) continue
        const again = back.metrics.get(to)?.find(one => one.to === from)
        // A metric that keeps its usual shape is translated in others only.
        if (again === undefined) {
          assert.equal(inWords(shapes[0]!), '')
          continue
        }
        const { multiply, divide } = again.shapes[0]!.scale
        assert.deepEqual({ multiply: divide, divide: multiply }, { ...shapes[0]!.scale }, from)
      }
    })
  }
})

type LegacyRow = {
  readonly old: string
  readonly new: string | null
  readonly status: string
  readonly unitChange: string
  readonly oldLabels: readonly string[]
  readonly oldVariants?: readonly { readonly labels: readonly string[]; readonly unit: string }[]
  readonly fromVersion: string
}

/** What changes of units are, in the words of the reference. */
const FACTORS: readonly (readonly [RegExp, number])[] = [
  [/1048576/, 1 / 1048576],
  [/1e6/, 1e-6],
  [/^/, 1],
]

describe('the legacy catalogs of Run:ai', () => {
  const reference = sharedJson<{ legacy: readonly LegacyRow[] }>('reference', 'runai-catalog.json')
  for (const row of reference?.legacy ?? []) {
    it(`have ${row.old} of ${row.fromVersion} as it was`, () => {
      const name = `runai-${row.fromVersion}`
      const its = generationOf(catalogs, name).rows.get(row.old)!
      assert.equal(its.becomes ?? null, row.new)
      assert.equal(its.status, row.status)
      if (row.oldLabels.length > 0) assert.deepEqual([...its.shapes[0]!.labels!].sort(), [...row.oldLabels].sort())
      const shapes = new Set(its.shapes.map(({ labels }) => [...labels!].sort().join()))
      for (const { labels } of row.oldVariants ?? []) assert.ok(shapes.has([...labels].sort().join()), labels.join())
      if (row.new === null) return
      const next = row.fromVersion === '2.12' ? 'runai-2.16' : 'runai-2.17'
      const { scale } = load(name, next).metrics.get(row.old)?.[0]?.shapes[0] ?? { scale: { multiply: 1, divide: 1 } }
      const [, factor] = FACTORS.find(([words]) => words.test(row.unitChange))!
      assert.equal(scale.multiply / scale.divide, row.unitChange.includes('treat as MiB') ? 1 : factor)
    })
  }
  if (reference !== undefined) {
    it('have nothing else', () => {
      for (const version of ['2.12', '2.16']) {
        const expected: string[] = reference.legacy.filter(row => row.fromVersion === version).map(row => row.old)
        assert.deepEqual([...generationOf(catalogs, `runai-${version}`).rows.keys()].sort(), expected.sort())
      }
    })
  }

  const seed = sharedPath('seeds', '000_b8cb714d0db610c5.txt')
  if (seed !== undefined) {
    it('have every row of the published table of changes', () => {
      const text = readFileSync(seed, 'utf8').split('## Changed metrics')[1]!
      const names = [...text.matchAll(/^\| *(runai[a-z_\\]+)/gm)].map(([, name]) => name!.replaceAll('\\', ''))
      const { rows } = generationOf(catalogs, 'runai-2.16')
      assert.equal(names.length, 27)
      assert.deepEqual(
        names.filter(name => !rows.has(name)),
        [],
      )
    })
  }
})

describe('the legacy catalogs of dcgm-exporter', () => {
  const path = sharedPath('reference', 'dcgm_field_renames.csv')
  const lines = path === undefined ? [] : readFileSync(path, 'utf8').trim().split('\n').slice(1)
  const UNITS: readonly (readonly [RegExp, string])[] = [
    [/MHz->Hz/, '1000000/1'],
    [/MiB->bytes/, '1048576/1'],
    [/mJ->J/, '1/1000'],
    [/percent->ratio/, '1/100'],
  ]
  /** Texts, topologies and ends of lists: nothing that an exporter shows as a number. */
  const NO_NUMBERS = 31

  if (path !== undefined) {
    it('have every name that DCGM changed and that is a number', () => {
      const later = load('dcgm-exporter-4.8', 'dcgm-exporter-4.9').metrics
      const first = load('dcgm-exporter-1', 'dcgm-exporter-4.8').metrics
      const changed = new Set(lines.filter(line => line.includes('new-id')).map(line => line.split(',')[1]))
      const missing: string[] = []
      for (const line of lines) {
        const [, from = '', to, kind = ''] = line.split(',')
        const isFirst = kind === '1.x-lowercase-name'
        const its = (isFirst ? first : later).get(from)?.[0]
        if (its === undefined) missing.push(from)
        else if (isFirst || kind.startsWith('new-id') || !changed.has(from)) assert.equal(its.to, to)
        const unit = UNITS.find(([words]) => words.test(kind))?.[1]
        const scale = its?.shapes[0]?.scale
        if (unit !== undefined) assert.equal(`${scale!.multiply}/${scale!.divide}`, unit)
      }
      assert.equal(missing.length, NO_NUMBERS, missing.join(' '))
    })
  }

  it('change units as the catalog of dcgm-exporter has them', () => {
    const { rules } = catalogs.load('dcgm') as {
      rules: ReadonlyMap<string, { scale: object; fact: object; choices: readonly { scale: object }[] }>
    }
    for (const { from, to, shapes } of [...load('dcgm-exporter-4.8', 'dcgm-exporter-4.9').metrics.values()].flat()) {
      const [older, newer] = [rules.get(from)!, rules.get(to!)!]
      assert.equal(older.fact, newer.fact, from)
      const { multiply, divide } = shapes[0]!.scale
      const factors = [newer, ...newer.choices].map(({ scale }) => {
        const [one, other] = [older.scale, scale] as { multiply: number; divide: number }[]
        return (one!.multiply / one!.divide) * (other!.divide / other!.multiply)
      })
      assert.ok(factors.includes(multiply / divide), `${from}: ${multiply}/${divide}, not ${factors.join(' or ')}`)
    }
  })
})
