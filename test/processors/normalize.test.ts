import assert from 'node:assert/strict'
import { SEEN_DEVICES, SEEN_OBJECTS, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { SeenObject } from '../../pipeline/cluster/seen-object.ts'
import { endBatch } from '../../pipeline/model/batch.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { createNormalizer, lines, sourceWith } from '../support/normalized.ts'

function check(name: string, input: string, expected: string, options: { keep_raw?: boolean } = {}): void {
  it(name, () => assert.equal(createNormalizer(options).give(input), lines(expected)))
}

describe('normalize', () => {
  check(
    'gives facts with one name and a base unit',
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 29
     DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1"} 40064
     DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-1"} 1410
     DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-1"} 257858316
     DCGM_FI_DEV_POWER_VIOLATION{gpu="0",UUID="GPU-1"} 1500000000
     DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{gpu="0",UUID="GPU-1"} 7
     DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L17{gpu="0",UUID="GPU-1"} 1`,
    `{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0.29
     {"hw.gpu.memory.usage",UUID="GPU-1",gpu="0"} 42010148864
     {"hw.gpu.sm.clock",UUID="GPU-1",gpu="0"} 1410000000
     {"hw.gpu.energy",UUID="GPU-1",gpu="0"} 257858.316
     {"hw.gpu.throttle.power",UUID="GPU-1",gpu="0"} 1.5
     {"hw.gpu.nvlink.rate",UUID="GPU-1",gpu="0"} 7000000
     {"dcgm.nvlink_crc_flit_error_l17_total",UUID="GPU-1",gpu="0"} 1`,
  )
  check(
    'lets pass what no catalog knows',
    `up 1
     scrape_duration_seconds 0.1
     DCGM_FI_SOMETHING_NEW{gpu="0"} 3
     gpu_power_usage{vendor="another"} 3`,
    `up 1
     scrape_duration_seconds 0.1
     DCGM_FI_SOMETHING_NEW{gpu="0"} 3
     gpu_power_usage{vendor="another"} 3`,
  )
  check(
    'keeps the raw series where it is told to, and those whose name is the name of the fact once',
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",uuid="GPU-1",hostname="a"} 29
     kube_pod_info{namespace="n",pod="p"} 1`,
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",hostname="a",uuid="GPU-1"} 29
     {"hw.gpu.utilization",Hostname="a",UUID="GPU-1",gpu="0"} 0.29
     kube_pod_info{namespace="n",pod="p"} 1`,
    { keep_raw: true },
  )

  check(
    'keeps the ranges of facts whose names and labels stay',
    `
    # HELP kube_pod_container_resource_requests What containers request.
    # TYPE kube_pod_container_resource_requests gauge
    kube_pod_container_resource_requests{container="c",namespace="n",pod="p",resource="cpu",uid="u",unit="core"} 4
    # HELP kube_pod_container_resource_requests_cpu_cores Cores that containers request.
    # TYPE kube_pod_container_resource_requests_cpu_cores gauge
    kube_pod_container_resource_requests_cpu_cores{container="c",namespace="n",pod="p",uid="u"} 4
    # TYPE kube_node_status_condition gauge
    kube_node_status_condition{condition="Ready",node="a",status="true"} 1
    # TYPE kube_node_status_capacity gauge
    kube_node_status_capacity{node="a",resource="cpu",unit="core"} 96
    `,
    `
    kube_pod_container_resource_requests{container="c",namespace="n",pod="p",resource="cpu",uid="u",unit="core"} 4
    kube_pod_container_resource_requests_cpu_cores{container="c",namespace="n",pod="p",uid="u"} 4
    kube_node_status_condition{condition="Ready",node="a",status="true"} 1
    kube_node_status_capacity{node="a",resource="cpu",unit="core"} 96
    `,
    { keep_raw: true },
  )

  it('says what a fact truly is, whatever the source declares', () => {
    const { consume } = createNormalizer()
    const { layout } = consume(
      batchFromText(`
        # HELP DCGM_FI_PROF_PCIE_TX_BYTES The rate of data.
        # TYPE DCGM_FI_PROF_PCIE_TX_BYTES counter
        DCGM_FI_PROF_PCIE_TX_BYTES{gpu="0",UUID="GPU-1"} 5
        # HELP kube_pod_info Information about pod.
        # TYPE kube_pod_info gauge
        kube_pod_info{pod="p"} 1
      `),
    )
    assert.deepEqual(
      layout.metrics.map(({ name, type, unit, help }) => [name, type, unit, help]),
      [
        ['hw.gpu.pcie.transmit.rate', 'gauge', 'By/s', 'Data that the GPU sends over PCIe, per second.'],
        ['kube_pod_info', 'gauge', '', 'Information about pod.'],
      ],
    )
  })

  it('leaves out what cannot be, and counts it by fact', () => {
    const { give, host } = createNormalizer()
    const text = give(`
      DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 2619
      DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2"} 4294967295
      DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-3"} 100
      DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 82505
      DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-1"} 9223372036854775794
      DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0",UUID="GPU-1"} 140737488355328.0
      DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-2"} 1.02
      DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-1"} NaN
    `)
    assert.equal(
      text,
      lines(`{"hw.gpu.engine.utilization",UUID="GPU-2",gpu="1"} 1.02
             {"hw.gpu.utilization",UUID="GPU-3",gpu="2"} 1`),
    )
    const name = 'gpucol_processor_out_of_range_metric_points'
    assert.deepEqual(
      ['utilization', 'temperature', 'memory.free', 'engine.utilization', 'power'].map(fact =>
        host.counted.get(`${name}{metric="hw.gpu.${fact}"}`),
      ),
      [2, 1, 1, 1, 1],
    )
  })
})

describe('normalize: labels have one spelling', () => {
  const facts = `{"hw.gpu.utilization",Hostname="node-a",UUID="GPU-1",container="c",gpu="0",modelName="A100",namespace="n",pod="p"} 0.29`
  for (const [generation, row] of [
    [
      '1.x',
      'dcgm_gpu_utilization{gpu="0",uuid="GPU-1",hostname="node-a",model_name="A100",pod_name="p",pod_namespace="n",container_name="c"} 29',
    ],
    [
      '2.x to 4.8',
      'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="node-a",modelName="A100",pod="p",namespace="n",container="c",pod_uid=""} 29',
    ],
    [
      'behind Prometheus',
      'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="node-a",modelName="A100",exported_pod="p",exported_namespace="n",exported_container="c",pod="exporter",namespace="gpu-operator",container="nvidia-dcgm-exporter"} 29',
    ],
    [
      '4.9',
      'DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="0",UUID="GPU-1",hostname="node-a",modelName="A100",pod="p",namespace="n",container="c"} 0.29',
    ],
    [
      'with CDI',
      'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="k8s.device-plugin.nvidia.com/gpu=GPU-1",Hostname="node-a",modelName="A100",pod="p",namespace="n",container="c"} 29',
    ],
  ] as const) {
    check(`in ${generation}`, row, facts)
  }

  check(
    'also on rows of idle GPUs behind Prometheus, which name only the exporter',
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",exported_pod="p",exported_namespace="n",pod="exporter",namespace="o"} 29
     DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",pod="exporter",namespace="o"} 0`,
    `{"hw.gpu.utilization",UUID="GPU-1",gpu="0",namespace="n",pod="p"} 0.29
     {"hw.gpu.utilization",UUID="GPU-2",gpu="1"} 0`,
  )

  it('and a target that once named a workload beside the exporter is remembered when all its GPUs are idle', () => {
    const { give, release } = createNormalizer()
    const idle = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",pod="exporter",namespace="o"} 0'
    give(
      'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",exported_pod="p",exported_namespace="n",pod="exporter",namespace="o"} 29',
    )
    assert.equal(give(idle), lines('{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0'))
    release()
    assert.equal(give(idle), lines('{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0'))
  })

  it('and a pod that is the target itself holds nothing', () => {
    const { give } = createNormalizer()
    const source = sourceWith(labelsFrom([['pod', 'exporter-x']]))
    const text = give(
      `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",pod="exporter-x",namespace="o"} 0
       DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",pod="p",namespace="n"} 0`,
      { source },
    )
    assert.equal(
      text,
      lines(`{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0
             {"hw.gpu.utilization",UUID="GPU-2",gpu="1",namespace="n",pod="p"} 0`),
    )
  })

  check(
    'the exporter itself is nobody who holds a GPU',
    'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",pod="x",namespace="o",container="nvidia-dcgm-exporter"} 0',
    '{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0',
  )
  check(
    'those that nobody knows stay, and those that only repeat the value go',
    `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",app="x",queue="q",instance="i"} 29
     DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-1",app="x",queue="q",instance="i",err_code="79",err_msg="GPU has fallen off the bus"} 79`,
    `{"hw.gpu.utilization",UUID="GPU-1",app="x",gpu="0",instance="i",queue="q"} 0.29
     {"hw.gpu.xid",UUID="GPU-1",app="x",gpu="0",instance="i",queue="q"} 79`,
  )
})

describe('normalize: a unit that the name does not tell', () => {
  const row = (value: number) => `DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="0",UUID="GPU-1"} ${value}`
  for (const [name, input, expected] of [
    ['is told by the help: percent', `# HELP DCGM_FI_DEV_GPU_UTIL_RATIO GPU utilization (in %).\n${row(29)}`, 0.29],
    ['is told by the help: ratio', `# HELP DCGM_FI_DEV_GPU_UTIL_RATIO GPU utilization (ratio).\n${row(0.29)}`, 0.29],
    [
      'is told by the families beside it: 4.9',
      `DCGM_FI_DEV_FB_CAPACITY_BYTES{gpu="9",UUID="GPU-9"} 1\n${row(0.29)}`,
      0.29,
    ],
    ['is told by the families beside it: DCGM 4.6', `DCGM_FI_DEV_FB_USED{gpu="9",UUID="GPU-9"} 1\n${row(29)}`, 0.29],
    [
      'has the help count before the families',
      `# HELP DCGM_FI_DEV_GPU_UTIL_RATIO in percent\nDCGM_FI_DEV_FB_USED_BYTES{gpu="9",UUID="GPU-9"} 1\n${row(29)}`,
      0.29,
    ],
    ['is what the name says where nothing tells', row(0.29), 0.29],
    ['is never guessed from a value: that is out of range', row(29), undefined],
  ] as const) {
    it(name, () => {
      const text = createNormalizer().give(input)
      const line = expected === undefined ? '' : `{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} ${expected}\n`
      assert.equal(
        text
          .split('\n')
          .filter(one => one.includes('hw.gpu.util'))
          .join('\n'),
        line.trim(),
      )
    })
  }

  it('is decided anew when the target is upgraded', () => {
    const { give } = createNormalizer()
    const helped = (help: string, value: number) => `# HELP DCGM_FI_DEV_GPU_UTIL_RATIO ${help}\n${row(value)}`
    assert.match(give(helped('GPU utilization (in %).', 29)), / 0\.29\n/)
    assert.match(give(helped('GPU utilization (ratio).', 0.29)), / 0\.29\n/)
  })

  it('does not matter for others: each target is decided for itself', () => {
    const { give } = createNormalizer()
    const source = (name: string) => ({ ...sourceWith(labelsFrom([])), name })
    assert.match(give(`# HELP DCGM_FI_DEV_GPU_UTIL_RATIO in %\n${row(29)}`, { source: source('a') }), / 0\.29\n/)
    assert.match(give(`# HELP DCGM_FI_DEV_GPU_UTIL_RATIO ratio\n${row(0.29)}`, { source: source('b') }), / 0\.29\n/)
  })
})

describe('normalize: several rows for one GPU', () => {
  const rows = (name: string, ...labels: (readonly [string, number])[]) =>
    labels.map(([text, value]) => `${name}{gpu="0",UUID="GPU-1"${text}} ${value}`).join('\n')

  check(
    'gives the energy of a board with three instances once, without instance and pod',
    rows(
      'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION',
      [',GPU_I_ID="3",GPU_I_PROFILE="2g.20gb",pod="a",namespace="n",app="x"', 257858316],
      [',GPU_I_ID="5",GPU_I_PROFILE="2g.20gb",pod="b",namespace="n",app="y"', 257858316],
      [',GPU_I_ID="6",GPU_I_PROFILE="2g.20gb"', 257858316],
    ),
    '{"hw.gpu.energy",UUID="GPU-1",gpu="0"} 257858.316',
  )
  check(
    'takes pod and instance off readings of the board even where there is one instance',
    rows('DCGM_FI_DEV_POWER_USAGE', [',GPU_I_ID="3",GPU_I_PROFILE="1g.5gb",pod="a",namespace="n"', 60]),
    '{"hw.gpu.power",UUID="GPU-1",gpu="0"} 60',
  )
  check(
    'keeps readings of instances apart, each with its pod',
    rows(
      'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
      [',GPU_I_ID="3",GPU_I_PROFILE="2g.20gb",pod="a",namespace="n"', 0.5],
      [',GPU_I_ID="5",GPU_I_PROFILE="2g.20gb"', 0],
    ),
    `{"hw.gpu.engine.utilization",GPU_I_ID="3",GPU_I_PROFILE="2g.20gb",UUID="GPU-1",gpu="0",namespace="n",pod="a"} 0.5
     {"hw.gpu.engine.utilization",GPU_I_ID="5",GPU_I_PROFILE="2g.20gb",UUID="GPU-1",gpu="0"} 0`,
  )
  check(
    'has a row of the board and rows of instances (-d g+i) side by side, and what is of the board once',
    [
      rows('DCGM_FI_DEV_FB_USED', ['', 30], [',GPU_I_ID="3"', 10], [',GPU_I_ID="5"', 20]),
      rows('DCGM_FI_DEV_POWER_USAGE', ['', 60], [',GPU_I_ID="3"', 60], [',GPU_I_ID="5"', 61]),
    ].join('\n'),
    `{"hw.gpu.memory.usage",UUID="GPU-1",gpu="0"} 31457280
     {"hw.gpu.memory.usage",GPU_I_ID="3",UUID="GPU-1",gpu="0"} 10485760
     {"hw.gpu.memory.usage",GPU_I_ID="5",UUID="GPU-1",gpu="0"} 20971520
     {"hw.gpu.power",UUID="GPU-1",gpu="0"} 61`,
  )
  check(
    'folds copies for the pods that share a GPU, with all labels that go with the pods',
    [
      rows(
        'DCGM_FI_DEV_GPU_UTIL',
        [',pod="a",namespace="n",vgpu="0",team="x",zone="z"', 40],
        [',pod="b",namespace="n",vgpu="1",team="y",zone="z"', 40],
      ),
      rows(
        'DCGM_EXP_XID_ERRORS_COUNT',
        [',pod="a",namespace="n",vgpu="0",team="x",zone="z",xid="43"', 1],
        [',pod="a",namespace="n",vgpu="0",team="x",zone="z",xid="79"', 2],
        [',pod="b",namespace="n",vgpu="1",team="y",zone="z",xid="43"', 1],
        [',pod="b",namespace="n",vgpu="1",team="y",zone="z",xid="79"', 2],
      ),
    ].join('\n'),
    `{"hw.gpu.utilization",UUID="GPU-1",gpu="0",namespace="n",zone="z"} 0.4
     {"dcgm.exp.xid_errors.window",UUID="GPU-1",gpu="0",namespace="n",xid="43",zone="z"} 1
     {"dcgm.exp.xid_errors.window",UUID="GPU-1",gpu="0",namespace="n",xid="79",zone="z"} 2`,
  )
  check(
    'keeps the pod where all rows name the same one',
    rows(
      'DCGM_FI_DEV_GPU_UTIL',
      [',pod="a",namespace="n",container="c1",vgpu="0"', 40],
      [',pod="a",namespace="n",container="c2",vgpu="1"', 40],
    ),
    '{"hw.gpu.utilization",UUID="GPU-1",gpu="0",namespace="n",pod="a"} 0.4',
  )
  check(
    'folds rows of Slurm jobs and of DRA claims',
    [
      rows('DCGM_FI_DEV_GPU_UTIL', [',hpc_job="1"', 40], [',hpc_job="2"', 40]),
      'DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",pod="a",namespace="n",dra_claim_name="x"} 10',
      'DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",pod="b",namespace="n",dra_claim_name="y"} 10',
    ].join('\n'),
    `{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0.4
     {"hw.gpu.utilization",UUID="GPU-2",gpu="1",namespace="n"} 0.1`,
  )
  check(
    'tells the readings of pods from that of the GPU, where both are there',
    [
      rows(
        'DCGM_FI_DEV_GPU_UTIL',
        ['', 70],
        [',pod="a",namespace="n",container="c",pod_uid="1",vgpu="0"', 30],
        [',pod="a",namespace="n",container="c",pod_uid="1",vgpu="1"', 30],
        [',pod="b",namespace="n",container="c",pod_uid="2",vgpu="2"', 40],
      ),
      rows(
        'DCGM_FI_DEV_FB_USED',
        ['', 10],
        [',pod="a",namespace="n",container="c",pod_uid="1",vgpu="0"', 3],
        [',pod="a",namespace="n",container="c",pod_uid="1",vgpu="1"', 3],
        [',pod="b",namespace="n",container="c",pod_uid="2",vgpu="2"', 4],
      ),
      rows(
        'DCGM_FI_DEV_POWER_USAGE',
        [',pod="a",namespace="n",container="c",pod_uid="1",vgpu="0"', 99],
        [',pod="a",namespace="n",container="c",pod_uid="1",vgpu="1"', 99],
        [',pod="b",namespace="n",container="c",pod_uid="2",vgpu="2"', 99],
      ),
    ].join('\n'),
    `{"hw.gpu.utilization",UUID="GPU-1",gpu="0"} 0.7
     {"k8s.pod.gpu.utilization",UUID="GPU-1",gpu="0",namespace="n",pod="a",pod_uid="1"} 0.3
     {"k8s.pod.gpu.utilization",UUID="GPU-1",gpu="0",namespace="n",pod="b",pod_uid="2"} 0.4
     {"hw.gpu.memory.usage",UUID="GPU-1",gpu="0"} 10485760
     {"k8s.pod.gpu.memory.usage",UUID="GPU-1",gpu="0",namespace="n",pod="a",pod_uid="1"} 3145728
     {"k8s.pod.gpu.memory.usage",UUID="GPU-1",gpu="0",namespace="n",pod="b",pod_uid="2"} 4194304
     {"hw.gpu.power",UUID="GPU-1",gpu="0"} 99`,
  )
  check(
    'leaves rows of links, switches and CPUs alone',
    `DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{gpu="0",UUID="GPU-1",pod="a",namespace="n"} 9
     DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{nvlink="0",gpu="0",gpu_uuid="GPU-1",model_name="A100"} 1
     DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL{nvlink="1",gpu="0",gpu_uuid="GPU-1",model_name="A100"} 2
     DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT{nvswitch="nvswitch0",Hostname="h"} 40
     DCGM_FI_DEV_CPU_TEMP_CURRENT{cpu="0",Hostname="h"} 50`,
    `{"hw.gpu.nvlink.rate",UUID="GPU-1",gpu="0",namespace="n",pod="a"} 9000000
     {"hw.gpu.nvlink.rate",UUID="GPU-1",gpu="0",modelName="A100",nvlink="0"} 1000000
     {"hw.gpu.nvlink.rate",UUID="GPU-1",gpu="0",modelName="A100",nvlink="1"} 2000000
     {"dcgm.nvswitch_temp_celsius",Hostname="h",nvswitch="nvswitch0"} 40
     {"dcgm.cpu_temp_celsius",Hostname="h",cpu="0"} 50`,
  )

  it('follows a GPU that comes to be shared, and is not any more', () => {
    const { give } = createNormalizer()
    const one = rows('DCGM_FI_DEV_POWER_USAGE', [',pod="a",namespace="n"', 50])
    const two = rows('DCGM_FI_DEV_POWER_USAGE', [',pod="a",namespace="n"', 60], [',pod="b",namespace="n"', 60])
    assert.equal(give(one), lines('{"hw.gpu.power",UUID="GPU-1",gpu="0",namespace="n",pod="a"} 50'))
    assert.equal(give(two), lines('{"hw.gpu.power",UUID="GPU-1",gpu="0",namespace="n"} 60'))
    assert.equal(give(one), lines('{"hw.gpu.power",UUID="GPU-1",gpu="0",namespace="n",pod="a"} 50'))
  })

  it('takes a reading from the next row where one is out of range', () => {
    const { give } = createNormalizer()
    const text = give(
      rows('DCGM_FI_DEV_GPU_TEMP', [',GPU_I_ID="3"', 82505], [',GPU_I_ID="5"', 40], [',GPU_I_ID="6"', 39]),
    )
    assert.equal(text, lines('{"hw.gpu.temperature",UUID="GPU-1",gpu="0"} 40'))
  })
})

describe('normalize: other sources', () => {
  const ksm2 = `
    kube_pod_container_resource_requests{namespace="n",pod="p",container="c",node="a",resource="cpu",unit="core"} 0.5
    kube_pod_container_resource_requests{namespace="n",pod="p",container="c",node="a",resource="memory",unit="byte"} 1024
    kube_node_status_capacity{node="a",resource="cpu",unit="core"} 8
    kube_node_status_capacity{node="a",resource="pods",unit="integer"} 110
    kube_pod_deletion_timestamp{namespace="n",pod="p"} 1700000000
    kube_pod_owner{namespace="n",pod="p"} 1
    kube_pod_labels{label_workload_name="w",namespace="n",pod="p"} 1`
  const ksm1 = `
    kube_pod_container_resource_requests_cpu_cores{namespace="n",pod="p",container="c",node="a"} 0.5
    kube_pod_container_resource_requests_memory_bytes{namespace="n",pod="p",container="c",node="a"} 1024
    kube_node_status_capacity_cpu_cores{node="a"} 8
    kube_node_status_capacity_pods{node="a"} 110
    kube_pod_deleted{namespace="n",pod="p"} 1700000000
    kube_pod_owner{namespace="n",pod="p",owner_kind="<none>",owner_name="<none>",owner_is_controller="<none>"} 1
    kube_pod_labels{label_workloadName="w",namespace="n",pod="p"} 1`

  it('kube-state-metrics 1.x and 2.x give the same facts, also where a scrape has both', () => {
    const two = createNormalizer().give(ksm2)
    assert.equal(createNormalizer().give(ksm1), two)
    assert.equal(two.split('\n').length - 1, 7)
    const both = ksm1
      .split('\n')
      .filter(line => /requests|capacity/.test(line))
      .join('\n')
    const { give, host } = createNormalizer()
    assert.equal(give(`${ksm2}\n${both}`), two)
    assert.equal(host.counted.get('gpucol_processor_folded_metric_points'), 4)
  })

  check(
    'kube-state-metrics behind Prometheus speaks of its pods, not of itself',
    'kube_pod_info{exported_pod="p",exported_namespace="n",exported_node="a",pod="kube-state-metrics-x",namespace="monitoring",node="b"} 1',
    'kube_pod_info{namespace="n",node="a",pod="p"} 1',
  )
  check(
    'kubelet: rows of containers, and not what sums them up',
    `container_cpu_usage_seconds_total{container="c",pod="p",namespace="n",cpu="total",id="/kubepods/x",image="i",name="n1"} 12.5
     container_cpu_usage_seconds_total{container="",pod="p",namespace="n",cpu="total",id="/kubepods/x"} 13
     container_cpu_usage_seconds_total{container="POD",pod="p",namespace="n",cpu="total",id="/kubepods/y"} 0.5
     container_cpu_usage_seconds_total{cpu="total",id="/"} 99
     container_cpu_usage_seconds_total{container="c",pod="p",namespace="n",cpu="cpu00",id="/kubepods/x",image="i"} 6
     container_memory_working_set_bytes{container="c",pod="p",namespace="n"} 1024
     container_memory_working_set_bytes{id="/kubepods"} 4096
     container_memory_usage_bytes{container="c",pod="p",namespace="n"} 2048
     pod_cpu_usage_seconds_total{pod="p",namespace="n"} 13
     node_memory_working_set_bytes 4096
     container_fs_usage_bytes{container="c",id="/kubepods/x"} 1`,
    `{"container.cpu.time",container="c",namespace="n",pod="p"} 12.5
     {"container.memory.working_set",container="c",namespace="n",pod="p"} 1024
     {"container.memory.usage",container="c",namespace="n",pod="p"} 2048
     {"k8s.pod.cpu.time",namespace="n",pod="p"} 13
     {"k8s.node.memory.working_set"} 4096
     container_fs_usage_bytes{container="c",id="/kubepods/x"} 1`,
  )
  check(
    'kubelet up to Kubernetes 1.15',
    'container_memory_usage_bytes{container_name="c",pod_name="p",namespace="n",id="/kubepods/x"} 2048',
    '{"container.memory.usage",container="c",namespace="n",pod="p"} 2048',
  )
  check(
    'node-exporter, before and after 0.16',
    `node_cpu_seconds_total{cpu="0",mode="idle"} 1.5
     node_memory_MemTotal_bytes 4096
     node_memory_MemAvailable{instance="old"} 1024`,
    `{"system.cpu.time",cpu="0",mode="idle"} 1.5
     {"system.memory.limit"} 4096
     {"system.linux.memory.available",instance="old"} 1024`,
  )
  check(
    'runai-node-exporter has the UUID in the label gpu',
    `runai_pod_gpu_utilization{pod_uuid="1",gpu="k8s.device-plugin.nvidia.com/gpu=GPU-1"} 12
     runai_pod_gpu_memory_used_bytes{pod_uuid="1",gpu="GPU-1"} 1024`,
    `{"k8s.pod.gpu.utilization",UUID="GPU-1",pod_uid="1"} 0.12
     {"k8s.pod.gpu.memory.usage",UUID="GPU-1",pod_uid="1"} 1024`,
  )

  const amd = (partition: string, id: string) =>
    `gpu_id="${id}",gpu_partition_id="${partition}",serial_number="S1",card_model="MI300X",hostname="node-a",gpu_compute_partition_type="cpx"`
  check(
    'AMD: a whole board has no partition',
    `amd_gpu_gfx_activity{${amd('0', '0')},pod="p",namespace="n",container="c",kfd_process_id="17"} 40
     gpu_used_vram{${amd('0', '0')},pod="p",namespace="n",container="c"} 10
     gpu_energy_consumed{${amd('0', '0')},pod="p",namespace="n",container="c"} 5000000`,
    `{"hw.gpu.utilization",Hostname="node-a",container="c",gpu="0",modelName="MI300X",namespace="n",pod="p",serial_number="S1"} 0.4
     {"hw.gpu.memory.usage",Hostname="node-a",container="c",gpu="0",modelName="MI300X",namespace="n",pod="p",serial_number="S1"} 10485760
     {"hw.gpu.energy",Hostname="node-a",container="c",gpu="0",modelName="MI300X",namespace="n",pod="p",serial_number="S1"} 5`,
  )
  check(
    'AMD: of partitions, power is of the board and memory of each',
    `gpu_package_power{${amd('0', '0')}} 500
     gpu_package_power{${amd('1', '1')}} 0
     gpu_used_vram{${amd('0', '0')}} 10
     gpu_used_vram{${amd('1', '1')}} 20`,
    `{"hw.gpu.power",Hostname="node-a",modelName="MI300X",serial_number="S1"} 500
     {"hw.gpu.memory.usage",GPU_I_ID="0",GPU_I_PROFILE="cpx",Hostname="node-a",gpu="0",modelName="MI300X",serial_number="S1"} 10485760
     {"hw.gpu.memory.usage",GPU_I_ID="1",GPU_I_PROFILE="cpx",Hostname="node-a",gpu="1",modelName="MI300X",serial_number="S1"} 20971520`,
  )
})

describe('normalize: what it tells the cluster', () => {
  it('are devices and whom their rows name', () => {
    const { give, host, consume } = createNormalizer()
    const source = { ...sourceWith(labelsFrom([])), node: 'node-a' }
    give(
      `DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="h",modelName="A100",pod="a",namespace="n",container="c",vgpu="0"} 1
       DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="h",modelName="A100",pod="b",namespace="n",container="c",vgpu="1"} 1
       DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="h",modelName="A100",pod="b",namespace="n",container="c",vgpu="2"} 1
       DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",Hostname="h",modelName="A100"} 1
       DCGM_FI_DEV_FB_USED{gpu="2",UUID="GPU-3",Hostname="h",modelName="A100",GPU_I_ID="3",GPU_I_PROFILE="1g.5gb",hpc_job="17"} 1`,
      { source },
    )
    const table = host.cluster.table<SeenDevice>(SEEN_DEVICES)
    const common = { host: 'h', model: 'A100', source }
    const nobody = {
      pod: undefined,
      namespace: undefined,
      container: undefined,
      podUid: undefined,
      job: undefined,
      replicas: undefined,
    }
    const whole = { ...common, part: undefined, profile: undefined }
    const pod = (name: string, replicas: number) => ({ ...nobody, pod: name, namespace: 'n', container: 'c', replicas })
    assert.deepEqual(table.entry('GPU-1').value, {
      ...whole,
      id: 'GPU-1',
      index: '0',
      holders: [pod('a', 1), pod('b', 2)],
    })
    assert.deepEqual(table.entry('GPU-2').value, {
      ...whole,
      id: 'GPU-2',
      index: '1',
      holders: [],
      isKnownFree: true,
    })
    assert.deepEqual(table.entry('GPU-3/3').value, {
      ...common,
      id: 'GPU-3',
      part: '3',
      profile: '1g.5gb',
      index: '2',
      holders: [{ ...nobody, job: '17' }],
    })
    give('up 1')
    assert.equal(table.size, 0)
    consume(endBatch(source, 1, 'removed'))
  })

  it('learns nothing of objects from a source whose objects are in the model already', () => {
    const { host, give } = createNormalizer()
    const source = { ...sourceWith(labelsFrom([])), isModelled: true as const }
    assert.equal(give('kube_pod_info{namespace="n",pod="p",uid="u"} 1', { source }).trim().split('\n').length, 1)
    assert.equal(host.cluster.table<SeenObject>(SEEN_OBJECTS).size, 0)
  })

  it('are objects, by value at every scrape', () => {
    const { host, consume } = createNormalizer()
    const table = host.cluster.table<SeenObject>(SEEN_OBJECTS)
    const batch = batchFromText(`
      kube_pod_status_phase{namespace="n",pod="p",uid="1",phase="Pending"} 1
      kube_pod_status_phase{namespace="n",pod="p",uid="1",phase="Running"} 0
      kube_pod_container_resource_limits{namespace="n",pod="p",uid="1",container="c",resource="nvidia_com_gpu",unit="integer"} 2
    `)
    const told = () => table.entry('Pod/n/p/1').value!.facts.map(({ name, value }) => `${name} ${value}`)
    consume(batch)
    assert.deepEqual(told(), ['kube_pod_status_phase 1', 'kube_pod_container_resource_limits 2'])
    const before = table.entry('Pod/n/p/1').value!.facts[0]!.labels
    consume({ ...batch, values: Float64Array.of(0, 1, 2) })
    assert.notEqual(table.entry('Pod/n/p/1').value!.facts[0]!.labels, before)
    consume(endBatch(batch.source, 1, 'failed'))
    assert.equal(table.size, 1)
    consume(endBatch(batch.source, 2, 'removed'))
    assert.equal(table.size, 0)
  })

  it('costs nothing while series stay the same', () => {
    const { consume, host } = createNormalizer()
    const batch = batchFromText('DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 1')
    const first = consume(batch)
    const mapped = host.counted.get('gpucol_processor_mapped_series')
    const second = consume({ ...batch, values: Float64Array.of(2) })
    assert.equal(second.layout, first.layout)
    assert.equal(host.counted.get('gpucol_processor_mapped_series'), mapped)
  })
})
