import assert from 'node:assert/strict'
import { applyEdits } from '../../../pipeline/migrate/edits.ts'
import { rewriteExpression } from '../../../pipeline/migrate/rewrite-expression.ts'
import { vocabularyBetween } from '../../support/vocabularies.ts'

const RUNAI = vocabularyBetween('runai-2.16', 'runai-2.17')
const RUNAI_BACK = vocabularyBetween('runai-2.17', 'runai-2.16')
const RUNAI_OLD = vocabularyBetween('runai-2.12', 'runai-2.17')
const DCGM = vocabularyBetween('dcgm-exporter-4.8', 'dcgm-exporter-4.9')
const DCGM_OLD = vocabularyBetween('dcgm-exporter-1', 'dcgm-exporter-4.9')
const KUBE = vocabularyBetween('kube-state-metrics-1', 'kube-state-metrics-2')
const KUBE_BACK = vocabularyBetween('kube-state-metrics-2', 'kube-state-metrics-1')

type Vocabulary = typeof RUNAI

function rewrite(text: string, vocabulary: Vocabulary, translated: Record<string, string> = {}) {
  const translatedVariables = new Map(Object.entries(translated))
  const rewriting = rewriteExpression(text, { vocabulary, recorded: new Map(), translatedVariables })
  return { ...rewriting, result: applyEdits(text, rewriting.edits) }
}

type Case = readonly [vocabulary: Vocabulary, text: string, expected: string]

function check(cases: readonly Case[]): void {
  for (const [vocabulary, text, expected] of cases) {
    const { result, remarks } = rewrite(text, vocabulary)
    assert.deepEqual([result, remarks], [expected, []])
  }
}

type Refusal = readonly [vocabulary: Vocabulary, text: string, reason: RegExp]

function checkLeft(cases: readonly Refusal[]): void {
  for (const [vocabulary, text, reason] of cases) {
    const { result, remarks } = rewrite(text, vocabulary)
    assert.equal(result, text)
    assert.match(remarks.map(({ message }) => message).join('\n') || 'no remark', reason, text)
  }
}

describe('rewriting an expression', () => {
  it('renames metrics wherever a selector can name one', () => {
    check([
      [RUNAI, 'runai_job_requested_gpus', 'runai_requested_gpus_per_workload'],
      [RUNAI, '{__name__="runai_job_requested_gpus"}', '{__name__="runai_requested_gpus_per_workload"}'],
      [RUNAI, '{"runai_job_requested_gpus", clusterId="a"}', '{"runai_requested_gpus_per_workload", clusterId="a"}'],
      [
        RUNAI,
        'sum(rate(runai_job_total_runtime[5m] offset 1h))',
        'sum(rate(runai_run_time_seconds_per_workload[5m] offset 1h))',
      ],
      [RUNAI_OLD, 'runai_job_allocated_gpus', 'runai_allocated_gpu_count_per_workload'],
      [RUNAI, 'my_runai_job_requested_gpus', 'my_runai_job_requested_gpus'],
      [
        RUNAI,
        'foo{a="runai_job_requested_gpus"} # runai_job_requested_gpus',
        'foo{a="runai_job_requested_gpus"} # runai_job_requested_gpus',
      ],
    ])
  })

  it('renames labels of what changes, and of nothing else', () => {
    check([
      [
        RUNAI,
        'sum by (job_type, user) (runai_gpu_utilization_per_workload)',
        'sum by (workload_type, user) (runai_gpu_utilization_per_workload)',
      ],
      [RUNAI, 'sum by (project) (runai_job_cpu_usage)', 'sum by (project) (runai_job_cpu_usage)'],
      [
        RUNAI,
        'sum(runai_job_cpu_usage) without(job_uuid, job_name)',
        'sum(runai_job_cpu_usage) without(workload_id, workload_name)',
      ],
      [RUNAI, 'sum by (job_name) (foo)', 'sum by (job_name) (foo)'],
      [RUNAI, 'runai_project_info{department_name=~"a|b"}', 'runai_project_info{department=~"a|b"}'],
      [
        RUNAI,
        'runai_job_cpu_usage{job_name!="",job_uuid=~".+"}',
        'runai_job_cpu_usage{workload_name!="",workload_id=~".+"}',
      ],
      [
        RUNAI,
        'runai_project_info * on (department_name) group_left(job_type) sum by (department_name) (runai_project_info)',
        'runai_project_info * on (department) group_left(job_type) sum by (department) (runai_project_info)',
      ],
      [
        RUNAI,
        'label_replace(runai_project_info, "short", "$1", "department_name", "(.)[a-z]*")',
        'label_replace(runai_project_info, "short", "$1", "department", "(.)[a-z]*")',
      ],
      [
        RUNAI,
        `sum by (both) (label_join(runai_project_info, 'both', "/", 'project', 'department_name'))`,
        `sum by (both) (label_join(runai_project_info, 'both', "/", 'project', 'department'))`,
      ],
      [
        RUNAI,
        'count_values by (job_type) ("v", runai_job_requested_gpus)',
        'count_values by (workload_type) ("v", runai_requested_gpus_per_workload)',
      ],
      [
        RUNAI,
        'sort_by_label(runai_project_info, "department_name")',
        'sort_by_label(runai_project_info, "department")',
      ],
      [DCGM_OLD, 'avg(dcgm_gpu_temp) by (pod_name)', 'avg(DCGM_FI_DEV_GPU_TEMP_CELSIUS) by (pod)'],
    ])
  })

  const BY_VALUE: readonly (readonly [text: string, accepted: string])[] = [
    ['sum by (job_name, project) (runai_job_cpu_usage)', 'sum by (workload_name, project) (runai_job_cpu_usage)'],
    ['sum(runai_job_cpu_usage) without(job_uuid)', 'sum(runai_job_cpu_usage) without(workload_id)'],
    ['topk(3, runai_job_cpu_usage) by (job_name)', 'topk(3, runai_job_cpu_usage) by (workload_name)'],
    [
      'runai_job_cpu_usage / on (job_name) runai_job_memory_used_bytes',
      'runai_job_cpu_usage / on (workload_name) runai_job_memory_used_bytes',
    ],
    [
      'runai_job_cpu_usage / ignoring (job_uuid) runai_job_memory_used_bytes',
      'runai_job_cpu_usage / ignoring (workload_id) runai_job_memory_used_bytes',
    ],
    [
      'sum by (job_uuid, job_name) (label_replace(runai_job_cpu_usage, "job_uuid", "", "project", ".*"))',
      'sum by (workload_id, workload_name) (label_replace(runai_job_cpu_usage, "workload_id", "", "project", ".*"))',
    ],
    [
      'runai_job_cpu_usage * on (project) group_left(job_name) runai_job_memory_used_bytes',
      'runai_job_cpu_usage * on (project) group_left(workload_name) runai_job_memory_used_bytes',
    ],
    [
      'label_replace(runai_job_cpu_usage, "short", "$1", "job_name", "(.*)")',
      'label_replace(runai_job_cpu_usage, "short", "$1", "workload_name", "(.*)")',
    ],
    [
      `label_join(runai_job_cpu_usage, 'both', "/", 'project', 'job_name')`,
      `label_join(runai_job_cpu_usage, 'both', "/", 'project', 'workload_name')`,
    ],
    [
      'count_values by (job_name) ("v", runai_job_cpu_usage)',
      'count_values by (workload_name) ("v", runai_job_cpu_usage)',
    ],
    ['sort_by_label(runai_job_cpu_usage, "job_name")', 'sort_by_label(runai_job_cpu_usage, "workload_name")'],
  ]

  it('leaves what depends on the values of a label whose successor has others', () => {
    checkLeft(BY_VALUE.map(([text]) => [RUNAI, text, /depends on the values of "job_(name|uuid)", and "workload_/]))
    checkLeft(
      BY_VALUE.map(([, text]) => [RUNAI_BACK, text, /depends on the values of "workload_(name|id)", and "job_/]),
    )
  })

  it('rewrites that, too, where other values are accepted, and says so', () => {
    for (const [text, expected] of BY_VALUE) {
      const around = { recorded: new Map(), translatedVariables: new Map() }
      const { edits, notes } = rewriteExpression(text, { vocabulary: RUNAI, acceptsOtherValues: true, ...around })
      assert.equal(applyEdits(text, edits), expected)
      assert.match(notes[0]!.message, /depends on the values/)
    }
  })

  const BY_ID: readonly (readonly [older: string, newer: string])[] = [
    ['sum by (job_uuid) (runai_job_cpu_usage)', 'sum by (workload_id) (runai_job_cpu_usage)'],
    ['sum by (job_name, job_uuid) (runai_job_cpu_usage)', 'sum by (workload_name, workload_id) (runai_job_cpu_usage)'],
    ['topk(3, runai_job_cpu_usage) by (job_uuid)', 'topk(3, runai_job_cpu_usage) by (workload_id)'],
    [
      'count_values by (job_uuid) ("v", runai_job_cpu_usage)',
      'count_values by (workload_id) ("v", runai_job_cpu_usage)',
    ],
    [
      'runai_job_cpu_usage * on (job_uuid) group_left (job_name) runai_job_memory_used_bytes',
      'runai_job_cpu_usage * on (workload_id) group_left (workload_name) runai_job_memory_used_bytes',
    ],
    [
      'max by (job_uuid) (runai_job_cpu_usage) > on (job_uuid) min by (job_uuid) (runai_job_requested_gpus)',
      'max by (workload_id) (runai_job_cpu_usage) > on (workload_id) min by (workload_id) (runai_requested_gpus_per_workload)',
    ],
  ]

  it('groups and joins by an id as by the id that stands in its place, whatever else changes with it, and says so', () => {
    check(
      BY_ID.flatMap(([older, newer]): Case[] => [
        [RUNAI, older, newer],
        [RUNAI_BACK, newer, older],
      ]),
    )
    for (const [older] of BY_ID)
      assert.match(rewrite(older, RUNAI).notes[0]!.message, /"workload_(id|name)", which stands/)
    check([
      [RUNAI, 'sum without (job_name) (runai_job_cpu_usage)', 'sum without (workload_name) (runai_job_cpu_usage)'],
      [
        RUNAI,
        'runai_job_cpu_usage / ignoring (job_name) runai_job_memory_used_bytes',
        'runai_job_cpu_usage / ignoring (workload_name) runai_job_memory_used_bytes',
      ],
    ])
  })

  it('matches whole series by labels with other values: they tell apart what they told apart', () => {
    check([
      [RUNAI, 'runai_job_cpu_usage / runai_job_memory_used_bytes', 'runai_job_cpu_usage / runai_job_memory_used_bytes'],
      [
        RUNAI,
        'runai_gpu_idle_time_per_workload and runai_gpu_utilization_per_workload > 5',
        'runai_gpu_idle_seconds_per_workload and runai_gpu_utilization_per_workload > 5',
      ],
      [
        RUNAI,
        'runai_job_cpu_usage / ignoring (job_name, job_uuid) runai_job_memory_used_bytes',
        'runai_job_cpu_usage / ignoring (workload_name, workload_id) runai_job_memory_used_bytes',
      ],
    ])
  })

  it('brings the old unit back by a factor', () => {
    check([
      [RUNAI, 'runai_node_gpu_used_memory_bytes', 'runai_gpu_memory_used_mebibytes_per_node * 1048576'],
      [
        RUNAI,
        'sum(runai_node_gpu_used_memory_bytes) / 1e9',
        'sum(runai_gpu_memory_used_mebibytes_per_node * 1048576) / 1e9',
      ],
      [RUNAI, 'a / runai_node_gpu_used_memory_bytes', 'a / (runai_gpu_memory_used_mebibytes_per_node * 1048576)'],
      [RUNAI, '-runai_node_gpu_used_memory_bytes ^ 2', '-(runai_gpu_memory_used_mebibytes_per_node * 1048576) ^ 2'],
      [
        RUNAI,
        'deriv(runai_node_gpu_used_memory_bytes[1h])',
        'deriv(runai_gpu_memory_used_mebibytes_per_node[1h]) * 1048576',
      ],
      [
        RUNAI,
        'max_over_time(runai_node_gpu_used_memory_bytes[1h:5m] @ end())',
        'max_over_time((runai_gpu_memory_used_mebibytes_per_node * 1048576)[1h:5m] @ end())',
      ],
      [
        RUNAI,
        'runai_node_gpu_used_memory_bytes offset 5m > 5',
        'runai_gpu_memory_used_mebibytes_per_node offset 5m * 1048576 > 5',
      ],
      [DCGM, 'DCGM_FI_DEV_SM_CLOCK', 'DCGM_FI_DEV_SM_CLOCK_HERTZ / 1000000'],
      [
        DCGM,
        'holt_winters(DCGM_FI_DEV_SM_CLOCK[1h], 0.5, 0.1)',
        'holt_winters(DCGM_FI_DEV_SM_CLOCK_HERTZ[1h], 0.5, 0.1) / 1000000',
      ],
      [DCGM, 'rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION[5m])', 'rate(DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL[5m]) * 1000'],
    ])
  })

  it('takes a factor away where that gives the new unit', () => {
    check([
      [DCGM, 'DCGM_FI_DEV_SM_CLOCK{gpu="0"} * 1000000', 'DCGM_FI_DEV_SM_CLOCK_HERTZ{gpu="0"}'],
      [DCGM, '1 / (DCGM_FI_DEV_SM_CLOCK * 1000000)', '1 / DCGM_FI_DEV_SM_CLOCK_HERTZ'],
      [RUNAI_BACK, 'runai_gpu_memory_used_mebibytes_per_node * 1048576', 'runai_node_gpu_used_memory_bytes'],
    ])
  })

  it('writes a factor that tells the way back which of two names was meant', () => {
    const cases: readonly (readonly [older: string, newer: string])[] = [
      ['runai_node_gpu_used_memory_bytes / 1048576', 'runai_gpu_memory_used_mebibytes_per_node * 1048576 / 1048576'],
      ['count(runai_node_total_memory_bytes)', 'count(runai_gpu_memory_total_mebibytes_per_node * 1048576)'],
      [
        'group by (node) (runai_node_total_memory_bytes)',
        'group by (node) (runai_gpu_memory_total_mebibytes_per_node * 1048576)',
      ],
    ]
    check(
      cases.flatMap(([older, newer]): Case[] => [
        [RUNAI, older, newer],
        [RUNAI_BACK, newer, older],
      ]),
    )
  })

  it('leaves numbers alone where a unit does not matter', () => {
    check([
      [
        RUNAI,
        'absent(runai_node_gpu_used_memory_bytes{node="a"})',
        'absent(runai_gpu_memory_used_mebibytes_per_node{node="a"})',
      ],
      [DCGM, 'count(DCGM_FI_DEV_SM_CLOCK)', 'count(DCGM_FI_DEV_SM_CLOCK_HERTZ)'],
      [DCGM, 'timestamp(DCGM_FI_DEV_SM_CLOCK)', 'timestamp(DCGM_FI_DEV_SM_CLOCK_HERTZ)'],
      [DCGM, 'changes(DCGM_FI_DEV_SM_CLOCK[5m])', 'changes(DCGM_FI_DEV_SM_CLOCK_HERTZ[5m])'],
      [DCGM, 'count(DCGM_FI_DEV_GPU_UTIL > 5) % 7', 'count(DCGM_FI_DEV_GPU_UTIL_RATIO > 0.05) % 7'],
      [DCGM, 'count(-DCGM_FI_DEV_GPU_UTIL) == 8', 'count(-(DCGM_FI_DEV_GPU_UTIL_RATIO * 100)) == 8'],
    ])
  })

  it('changes numbers that a metric is compared with where a factor would round', () => {
    check([
      [DCGM, 'DCGM_FI_DEV_GPU_UTIL > 29', '(DCGM_FI_DEV_GPU_UTIL_RATIO > 0.29) * 100'],
      [DCGM, '29 < DCGM_FI_DEV_GPU_UTIL', '(0.29 < DCGM_FI_DEV_GPU_UTIL_RATIO) * 100'],
      [DCGM, 'max(DCGM_FI_DEV_GPU_UTIL) == bool 7', 'max(DCGM_FI_DEV_GPU_UTIL_RATIO) == bool 0.07'],
      [DCGM, 'avg(DCGM_FI_DEV_GPU_UTIL >= 0 <= 100)', 'avg((DCGM_FI_DEV_GPU_UTIL_RATIO >= 0 <= 1) * 100)'],
      [DCGM, 'count(DCGM_FI_DEV_GPU_UTIL == 0)', 'count(DCGM_FI_DEV_GPU_UTIL_RATIO == 0)'],
      [DCGM, '(DCGM_FI_DEV_GPU_UTIL > 5) / 100', 'DCGM_FI_DEV_GPU_UTIL_RATIO > 0.05'],
      [DCGM, '(DCGM_FI_DEV_GPU_UTIL > 5) / 100 + 1', '((DCGM_FI_DEV_GPU_UTIL_RATIO > 0.05) * 100) / 100 + 1'],
    ])
  })

  it('leaves names and labels that are written with escapes', () => {
    const escaped = /is written with escapes/
    checkLeft([
      [RUNAI, String.raw`{__name__="runai\x5fjob_total_runtime"}`, escaped],
      [RUNAI, String.raw`{"runai\137job_total_runtime"}`, escaped],
      [RUNAI, String.raw`runai_project_info{"department\x5fname"="x"}`, escaped],
      [RUNAI, String.raw`sum by ("department\u005fname") (runai_project_info)`, escaped],
      [RUNAI, String.raw`label_join(runai_project_info, "a", "", "department\x5fname")`, escaped],
    ])
    check([
      [RUNAI, String.raw`{"foo\x5fbar"}`, String.raw`{"foo\x5fbar"}`],
      [
        RUNAI,
        String.raw`runai_project_info{department_name="\x41"}`,
        String.raw`runai_project_info{department="\x41"}`,
      ],
    ])
  })

  it('leaves a metric whose name is matched more than once', () => {
    const twice = /the metric name is matched more than once/
    checkLeft([
      [DCGM, '{__name__="DCGM_FI_DEV_GPU_UTIL", __name__=~"DCGM.*UTIL"}', twice],
      [DCGM, '{__name__=~"DCGM.*UTIL", __name__="DCGM_FI_DEV_GPU_UTIL"}', twice],
      [RUNAI, 'runai_job_total_runtime{__name__!=""}', twice],
    ])
    check([[DCGM, '{__name__="foo", __name__=~"fo+"}', '{__name__="foo", __name__=~"fo+"}']])
  })

  it('tells which labels change where several metrics have them', () => {
    checkLeft([
      [
        RUNAI,
        'foo and (runai_project_info or runai_project_info{project="a"} or foo)',
        /change so: none on the left, department_name becomes department on the right/,
      ],
    ])
  })

  it('leaves labels that a variable names', () => {
    checkLeft([
      [RUNAI, 'label_join(runai_project_info, "a", "", $source)', /a label is not named here/],
      [RUNAI, 'label_replace(runai_project_info, $made, "", "project", ".*")', /a label is not named here/],
      [RUNAI, 'label_replace(runai_project_info, "$made", "", "project", ".*")', /a variable names the label/],
    ])
  })

  it('says so where rounding may decide', () => {
    const { result, notes } = rewrite('avg_over_time(DCGM_FI_DEV_GPU_UTIL[30m]) < 5', DCGM)
    assert.equal(result, '(avg_over_time(DCGM_FI_DEV_GPU_UTIL_RATIO[30m]) < 0.05) * 100')
    assert.match(notes[0]!.message, /rounding in the new unit may decide/)
    const outer = rewrite('(DCGM_FI_DEV_GPU_UTIL > 5) >= 29', DCGM)
    assert.equal(outer.result, '((DCGM_FI_DEV_GPU_UTIL_RATIO > 0.05) * 100) >= 29')
    assert.match(outer.notes[0]!.message, /rounding in the new unit may decide/)
  })

  it('leaves names and labels that are new already, and does not claim to understand them', () => {
    const cases: readonly Refusal[] = [
      [
        DCGM,
        'DCGM_FI_DEV_GPU_TEMP or DCGM_FI_DEV_GPU_TEMP_CELSIUS',
        /_CELSIUS is a metric of dcgm-exporter-4.9 already/,
      ],
      [DCGM, 'DCGM_FI_DEV_GPU_TEMP_CELSIUS', /already, and none of dcgm-exporter-4.8/],
      [RUNAI, 'runai_gpu_idle_seconds_per_workload > 5', /is a metric of runai-2.17 already/],
      [RUNAI_BACK, 'runai_job_image', /is a metric of runai-2.16 already/],
      [RUNAI, 'sum by (workload_type) (runai_gpu_utilization_per_workload)', /"workload_type" is a label of/],
    ]
    checkLeft(cases)
    for (const [vocabulary, text] of cases) assert.equal(rewrite(text, vocabulary).isUnderstood, false, text)
  })

  it('does not claim to understand what the way back takes for something else', () => {
    const cases: readonly (readonly [vocabulary: Vocabulary, text: string, result: string, note: RegExp])[] = [
      [
        RUNAI,
        'sum(runai_running_job_memory_requested_bytes)',
        'sum(runai_active_job_memory_requested_bytes)',
        /the way back does not lead to runai_running_job_memory_requested_bytes/,
      ],
      [
        RUNAI,
        'runai_gpu_memory_used_mebibytes_per_node * 1048576',
        'runai_gpu_memory_used_mebibytes_per_node * 1048576',
        /as it is used here for runai_node_gpu_used_memory_bytes/,
      ],
      [
        KUBE,
        'kube_node_status_capacity{resource="pods", unit="integer"}',
        'kube_node_status_capacity{resource="pods", unit="integer"}',
        /as it is used here for kube_node_status_capacity_pods/,
      ],
    ]
    for (const [vocabulary, text, expected, note] of cases) {
      const { result, notes, isUnderstood } = rewrite(text, vocabulary)
      assert.deepEqual([result, isUnderstood], [expected, false])
      assert.match(notes[0]!.message, note)
    }
  })

  it('adds matchers for what the old name implied, and takes them away', () => {
    check([
      [
        KUBE,
        'sum(kube_pod_container_resource_requests_cpu_cores{node="a"})',
        'sum(kube_pod_container_resource_requests{node="a", resource="cpu", unit="core"})',
      ],
      [
        vocabularyBetween('kube-state-metrics-2', 'kube-state-metrics-1'),
        'kube_pod_container_resource_requests{resource="cpu", unit="core"}',
        'kube_pod_container_resource_requests_cpu_cores',
      ],
    ])
    const needsLabels = [
      'kube_node_status_capacity - kube_node_status_capacity{resource="pods", unit="integer"}',
      'sum by (resource) (kube_node_status_capacity{resource="pods", unit="integer"})',
    ]
    check(needsLabels.map((text): Case => [KUBE_BACK, text, text]))
    const both: readonly (readonly [older: string, newer: string])[] = [
      ['kube_node_status_capacity_pods{}', 'kube_node_status_capacity{resource="pods", unit="integer",}'],
      ['kube_node_status_capacity_pods{ }', 'kube_node_status_capacity{resource="pods", unit="integer", }'],
      [
        'kube_node_status_capacity_pods{node="a", }',
        'kube_node_status_capacity{node="a", resource="pods", unit="integer", }',
      ],
      [
        'sum without (node) (kube_node_status_capacity_pods)',
        'sum without (node) (kube_node_status_capacity{resource="pods", unit="integer"})',
      ],
    ]
    const back = vocabularyBetween('kube-state-metrics-2', 'kube-state-metrics-1')
    check(
      both.flatMap(([older, newer]): Case[] => [
        [KUBE, older, newer],
        [back, newer, older],
      ]),
    )
  })

  it('sees through the variables of Grafana', () => {
    check([
      [
        DCGM,
        'rate(DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu=~"$gpu"}[$__rate_interval])',
        'rate(DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL{gpu=~"$gpu"}[$__rate_interval]) * 1000',
      ],
      [
        DCGM,
        'max_over_time(DCGM_FI_DEV_GPU_TEMP[$__range:${step}] offset $back)',
        'max_over_time(DCGM_FI_DEV_GPU_TEMP_CELSIUS[$__range:${step}] offset $back)',
      ],
      [DCGM, 'increase(DCGM_FI_DEV_PCIE_REPLAY_COUNTER[[[i]]])', 'increase(DCGM_FI_DEV_PCIE_REPLAY_TOTAL[[[i]]])'],
      [
        DCGM,
        'topk($k, $agg by (gpu) (DCGM_FI_DEV_GPU_TEMP))',
        'topk($k, $agg by (gpu) (DCGM_FI_DEV_GPU_TEMP_CELSIUS))',
      ],
      [
        DCGM,
        '${f}_over_time(DCGM_FI_DEV_GPU_TEMP[${__range_s}s])',
        '${f}_over_time(DCGM_FI_DEV_GPU_TEMP_CELSIUS[${__range_s}s])',
      ],
      [
        DCGM,
        '${agg}(DCGM_FI_DEV_GPU_TEMP{a=")"}) by (gpu) + abs($g(foo))',
        '${agg}(DCGM_FI_DEV_GPU_TEMP_CELSIUS{a=")"}) by (gpu) + abs($g(foo))',
      ],
      [DCGM, 'DCGM_FI_DEV_GPU_TEMP > $limit', 'DCGM_FI_DEV_GPU_TEMP_CELSIUS > $limit'],
      [
        DCGM,
        'clamp_min(DCGM_FI_DEV_GPU_TEMP, $low) > on () group_left () vector($limit)',
        'clamp_min(DCGM_FI_DEV_GPU_TEMP_CELSIUS, $low) > on () group_left () vector($limit)',
      ],
      [DCGM, 'foo_${bar}_baz{$label="x", $more}', 'foo_${bar}_baz{$label="x", $more}'],
      [
        RUNAI,
        'runai_active_job_cpu_limits{job_name${matches_job}, a="b"}',
        'runai_cpu_limits_per_active_workload{job_name${matches_job}, a="b"}',
      ],
    ])
  })

  it('leaves what has no successor', () => {
    checkLeft([
      [RUNAI, 'runai_job_image', /runai_job_image has no successor in runai-2.17/],
      [RUNAI, 'rate(runai_deployment_request_latencies_bucket[5m])', /has no successor/],
      [RUNAI, 'runai_job_requested_gpus + runai_job_image', /runai_job_image has no successor/],
      [RUNAI, 'sum by (project) (runai_gpu_utilization_per_workload)', /label "project" .* has no successor/],
      [RUNAI_BACK, 'runai_queue_info', /runai-2.16 has no such metric/],
      [RUNAI_BACK, 'runai_gpu_count_per_node{ready="true"}', /label "ready" .* has no successor/],
    ])
  })

  it('leaves values that cannot be translated', () => {
    checkLeft([
      [RUNAI, 'runai_job_cpu_usage{job_uuid="5d1c"}', /"5d1c" cannot be translated/],
      [RUNAI, 'runai_job_cpu_usage{job_uuid=~"$job"}', /a variable cannot be translated/],
      [RUNAI, 'label_replace(runai_job_cpu_usage, "a", "$1", "job_uuid", "(.).*")', /regular expression is for values/],
    ])
    const { result } = rewrite('runai_job_cpu_usage{job_uuid=~"$job"}', RUNAI, { job: 'workload_id' })
    assert.equal(result, 'runai_job_cpu_usage{workload_id=~"$job"}')
  })

  it('leaves joins whose sides change in different ways', () => {
    checkLeft([
      [RUNAI, 'runai_job_cpu_usage / on (job_uuid) runai_active_job_cpu_requested_cores', /not the same on both sides/],
      [RUNAI, 'runai_job_cpu_usage / foo', /would not match by their labels/],
      [
        RUNAI,
        'runai_project_info * on (project) group_left (department_name) foo',
        /would not write over its namesake/,
      ],
      [RUNAI, 'sum by (job_name) (runai_job_cpu_usage or foo)', /./],
      [KUBE, 'sum by (nodeName) (kube_volumeattachment_info) * on (node) sum(foo)', /"node" is not the same on both/],
      [KUBE, 'sum by (node) (sum by (nodeName) (kube_volumeattachment_info))', /"node" is a label of/],
      [RUNAI, 'sum without (node) (runai_gpu_count_per_node)', /`without` would mean other labels/],
      [RUNAI, 'label_replace(runai_job_cpu_usage, "workload_name", "$1", "job_name", "(.*)")', /is made here/],
      [
        RUNAI,
        'runai_job_cpu_usage{workload_name="a"}',
        /is a label of runai_job_cpu_usage in runai-2.17, but not in runai-2.16/,
      ],
    ])
  })

  it('leaves names that are not certain', () => {
    checkLeft([
      [RUNAI, '{__name__=~"runai_job_.*"}', /matched by a regular expression.*runai_job_/],
      [RUNAI, '{clusterId="a"}', /names no metric/],
      [RUNAI, 'runai_${what}_per_workload', /a variable is part of the metric name/],
      [RUNAI, '$metric{clusterId="a"}', /a variable is part/],
      [RUNAI, 'topk(5, $metric)', /a variable is part/],
      [RUNAI, 'clamp_max($metric, 5)', /a variable is part/],
      [RUNAI, 'sum by ($label) (runai_job_cpu_usage)', /a variable names the label/],
      [RUNAI, 'runai_job_cpu_usage{$filters}', /a variable names the label/],
      [RUNAI, 'runai_job_cpu_usage{job_name${matches_job}}', /a variable names the label/],
    ])
    check([[RUNAI, '{__name__=~"kube_.*"} + kube_${what}_info', '{__name__=~"kube_.*"} + kube_${what}_info']])
  })

  it('leaves what depends on the name of a metric', () => {
    checkLeft([
      [DCGM, 'sum by (__name__) (DCGM_FI_DEV_GPU_TEMP)', /depends on the name of a metric/],
      [DCGM, 'label_replace(DCGM_FI_DEV_GPU_TEMP, "a", "$1", "__name__", "(.*)")', /depends on the name of a metric/],
      [DCGM, 'foo * on (__name__) DCGM_FI_DEV_GPU_TEMP', /depends on the name of a metric/],
      [DCGM, 'limit_ratio(0.5, DCGM_FI_DEV_GPU_TEMP)', /depends on the name of a metric/],
    ])
    check([[DCGM, 'sum by (__name__) (foo)', 'sum by (__name__) (foo)']])
  })

  it('leaves units that a factor cannot correct', () => {
    checkLeft([
      [DCGM, 'stdvar_over_time(DCGM_FI_DEV_GPU_UTIL[5m])', /does not follow the unit/],
      [DCGM, 'DCGM_FI_DEV_GPU_UTIL[5m]', /a range outside of a function/],
      [DCGM, 'round(DCGM_FI_DEV_GPU_UTIL)', /rounding errors/],
      [DCGM, 'DCGM_FI_DEV_SM_CLOCK * 1000000 / 1000000', /undone by the next one/],
      [DCGM, 'floor(DCGM_FI_DEV_GPU_UTIL > 5)', /`floor` may see rounding errors/],
      [DCGM, 'count_values("v", DCGM_FI_DEV_GPU_UTIL > 5)', /`count_values` may see rounding errors/],
      [DCGM, '(DCGM_FI_DEV_GPU_UTIL > 5) == 29', /a comparison may see rounding errors/],
      [DCGM, '(DCGM_FI_DEV_GPU_UTIL > 5) % 7', /`%` may see rounding errors/],
      [DCGM, 'avg(DCGM_FI_DEV_GPU_UTIL) == 7', /equal depends on their unit/],
      [DCGM, '$f(DCGM_FI_DEV_GPU_UTIL)', /a function that is a variable/],
      [DCGM, 'a * on (gpu) group_left DCGM_FI_DEV_GPU_UTIL', /would be taken for its labels/],
      [DCGM, 'a * on (gpu) GROUP_LEFT # b\n DCGM_FI_DEV_GPU_UTIL ^ 2', /would be taken for its labels/],
    ])
  })

  it('leaves what is no PromQL', () => {
    for (const text of ['', 'sum(', 'a b', 'rate(x[5m)', 'foo(bar)', '# only a comment', 'a == == b']) {
      const { isUnderstood, edits, remarks } = rewrite(text, RUNAI)
      assert.deepEqual([isUnderstood, edits.length, remarks.length], [false, 0, 1], text)
    }
    assert.equal(rewrite(`${'('.repeat(5000)}a${')'.repeat(5000)}`, RUNAI).isUnderstood, false)
  })
})
