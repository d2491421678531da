import assert from 'node:assert/strict'
import { createSimulatedCluster, type SimulatedCluster } from '../../../../pipeline/simulator/cluster.ts'
import {
  GENERATION,
  generationOfNode,
  GENERATIONS,
  type GenerationName,
} from '../../../../pipeline/simulator/dcgm-exporter/generations.ts'
import { createNodeRenderer } from '../../../../pipeline/simulator/dcgm-exporter/render.ts'
import { byName, samplesIn, type Sample } from '../samples.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const INTERVAL_MS = 10_000

/** Nodes 0 and 1 have whole GPUs, node 2 has MIG, node 3 time-slicing. */
function cluster(): SimulatedCluster {
  const simulated = createSimulatedCluster({ seed: 1, nodes: 4, gpusPerNode: 8, startMs: START_MS })
  simulated.advance(START_MS + 600_000)
  return simulated
}

function render(simulated: SimulatedCluster, version: GenerationName, node: number, timeMs = simulated.timeMs): string {
  return createNodeRenderer(simulated.state.nodes[node]!, GENERATION[version], INTERVAL_MS).render(timeMs)
}

/** A moment at which the first node has GPUs with a pod and GPUs without one. */
function clusterWithFreeGpu(): SimulatedCluster {
  const simulated = cluster()
  const isFree = (): boolean =>
    simulated.state.nodes[0]!.gpus.some(({ devices }) => devices.every(({ claims }) => claims.length === 0))
  while (!isFree()) simulated.advance(simulated.timeMs + 60_000)
  return simulated
}

function labelNames(sample: Sample | undefined): string {
  return Object.keys(sample?.labels ?? {}).join(' ')
}

describe('the text of dcgm-exporter', () => {
  const simulated = cluster()

  for (const version of GENERATIONS) {
    it(`is complete and free of repetitions in ${version}`, () => {
      for (let node = 0; node < 4; node++) {
        const text = render(simulated, version, node)
        const samples = samplesIn(text)
        assert.ok(samples.length > 100)
        const series = samples.map(({ name, labels }) => JSON.stringify([name, labels]))
        assert.equal(new Set(series).size, series.length)
        const families = [...text.matchAll(/^# TYPE (\S+) (?:gauge|counter)$/gm)].map(match => match[1]!)
        assert.deepEqual(new Set(families), new Set(samples.map(({ name }) => name)))
        assert.equal(new Set(families).size, families.length)
      }
    })
  }

  const withFreeGpu = clusterWithFreeGpu()
  const labels: [GenerationName, busy: string, idle: string][] = [
    ['1.x', 'gpu uuid pod_name pod_namespace container_name', 'gpu uuid'],
    [
      '2.x',
      'gpu UUID device modelName Hostname DCGM_FI_DRIVER_VERSION container namespace pod',
      'gpu UUID device modelName Hostname DCGM_FI_DRIVER_VERSION container namespace pod',
    ],
    [
      '3.3.5',
      'gpu UUID device modelName Hostname DCGM_FI_DRIVER_VERSION container namespace pod',
      'gpu UUID device modelName Hostname DCGM_FI_DRIVER_VERSION container namespace pod',
    ],
    [
      '4.8',
      'gpu UUID pci_bus_id device modelName Hostname DCGM_FI_DRIVER_VERSION container namespace pod',
      'gpu UUID pci_bus_id device modelName Hostname DCGM_FI_DRIVER_VERSION',
    ],
    [
      '4.9',
      'gpu UUID pci_bus_id device modelName hostname DCGM_FI_SYSTEM_DRIVER_VERSION container namespace pod',
      'gpu UUID pci_bus_id device modelName hostname DCGM_FI_SYSTEM_DRIVER_VERSION',
    ],
  ]
  for (const [version, busy, idle] of labels) {
    it(`has the labels of ${version} on GPUs with a pod and without one`, () => {
      const all = samplesIn(render(withFreeGpu, version, 0))
      const power = all.filter(({ name }) => /POWER|power/.test(name))
      const held = (sample: Sample): boolean => (sample.labels['pod'] ?? sample.labels['pod_name'] ?? '') !== ''
      assert.equal(labelNames(power.find(held)), busy)
      const free = power.find(sample => !held(sample))
      assert.equal(labelNames(free), idle)
      assert.ok(['', undefined].includes(free!.labels['pod']))
    })
  }

  it('names the exporter as host in 2.x and the node later', () => {
    const node = simulated.state.nodes[0]!
    const [old] = samplesIn(render(simulated, '2.x', 0))
    assert.equal(old!.labels['Hostname'], node.exporterPod!.name)
    const [young] = samplesIn(render(simulated, '4.9', 0))
    assert.equal(young!.labels['hostname'], 'node-0')
  })

  it('orders families by field id up to 4.8 and by name from 4.9 on', () => {
    const order = (version: GenerationName): string[] =>
      [...render(simulated, version, 3).matchAll(/^# TYPE (\S+)/gm)].map(match => match[1]!)
    assert.deepEqual(order('4.8').slice(0, 6), [
      'DCGM_FI_DEV_SM_CLOCK',
      'DCGM_FI_DEV_MEM_CLOCK',
      'DCGM_FI_DEV_MEMORY_TEMP',
      'DCGM_FI_DEV_GPU_TEMP',
      'DCGM_FI_DEV_POWER_USAGE',
      'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION',
    ])
    assert.deepEqual(order('4.9'), order('4.9').toSorted())
  })

  it('writes whole numbers and six decimals up to 4.8, and the shortest number from 4.9 on', () => {
    for (const { name, value } of samplesIn(render(simulated, '4.8', 0))) {
      assert.match(value, /POWER_USAGE|PROF_(?!PCIE)/.test(name) ? /^\d+\.\d{6}$/ : /^\d+$/, name)
    }
    const young = byName(samplesIn(render(simulated, '4.9', 0)))
    assert.match(young.get('DCGM_FI_DEV_SM_CLOCK_HERTZ')![0]!.value, /^\d(\.\d+)?e\+0[89]$/)
    assert.match(young.get('DCGM_FI_DEV_FB_CAPACITY_BYTES')![0]!.value, /^\d\.\d+e\+10$/)
  })

  it('reads the same in old and new units', () => {
    const old = byName(samplesIn(render(simulated, '4.8', 0)))
    const young = byName(samplesIn(render(simulated, '4.9', 0)))
    const units: [string, string, (value: number) => number][] = [
      ['DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_DEV_GPU_UTIL_RATIO', value => value / 100],
      ['DCGM_FI_DEV_MEM_COPY_UTIL', 'DCGM_FI_DEV_MEM_COPY_UTIL_RATIO', value => value / 100],
      ['DCGM_FI_DEV_SM_CLOCK', 'DCGM_FI_DEV_SM_CLOCK_HERTZ', value => value * 1e6],
      ['DCGM_FI_DEV_FB_USED', 'DCGM_FI_DEV_FB_USED_BYTES', value => value * 1_048_576],
      ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 'DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL', value => value / 1000],
      ['DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL', 'DCGM_FI_DEV_NVLINK_THROUGHPUT_TOTAL', value => value * 1e6],
      ['DCGM_FI_DEV_POWER_USAGE', 'DCGM_FI_DEV_BOARD_POWER_WATTS', value => value],
      ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO', value => value],
    ]
    for (const [oldName, newName, convert] of units) {
      assert.deepEqual(
        young.get(newName)!.map(({ value }) => Number(value)),
        old.get(oldName)!.map(({ value }) => convert(Number(value))),
        newName,
      )
    }
  })

  it('accounts for the memory of a board: used, free and reserved are all there is', () => {
    const families = byName(samplesIn(render(simulated, '4.9', 0)))
    const numbers = (name: string): number[] =>
      families.get(`DCGM_FI_DEV_FB_${name}_BYTES`)!.map(({ value }) => Number(value))
    const [used, free, reserved, capacity] = ['USED', 'FREE', 'RESERVED', 'CAPACITY'].map(numbers)
    assert.ok(capacity!.length > 0)
    for (const [at, total] of capacity!.entries()) {
      assert.equal(used![at]! + free![at]! + reserved![at]!, total)
      assert.ok(free![at]! >= 0)
    }
  })

  it('shows MIG instances in place of their board, without utilisation, with the power of the whole board on each', () => {
    const families = byName(samplesIn(render(simulated, '4.8', 2)))
    const power = families.get('DCGM_FI_DEV_POWER_USAGE')!
    const ofFirst = power.filter(({ labels }) => labels['gpu'] === '0')
    assert.deepEqual(
      ofFirst.map(({ labels }) => `${labels['GPU_I_PROFILE']} ${labels['GPU_I_ID']}`),
      ['3g.40gb 2', '2g.20gb 3', '1g.10gb 9', '1g.10gb 10'],
    )
    assert.equal(new Set(ofFirst.map(({ value }) => value)).size, 1)
    assert.ok(families.get('DCGM_FI_DEV_GPU_UTIL')!.every(({ labels }) => labels['GPU_I_ID'] === undefined))
    assert.ok(families.get('DCGM_FI_PROF_GR_ENGINE_ACTIVE')!.some(({ labels }) => labels['GPU_I_ID'] !== undefined))
  })

  it('shows those who share a GPU by time-slicing: one by one from 4.8 on, one of them before', () => {
    const shared = byName(samplesIn(render(simulated, '4.8', 3)))
    const clocks = shared.get('DCGM_FI_DEV_SM_CLOCK')!
    const ofPods = clocks.filter(({ labels }) => labels['vgpu'] !== undefined)
    assert.ok(ofPods.length > 8)
    assert.ok(ofPods.every(({ labels }) => labels['pod_uid'] !== undefined && labels['pod'] !== undefined))
    // The board itself stays beside its pods in what is known by process, and only there.
    const uuid = ofPods[0]!.labels['UUID']
    const used = shared.get('DCGM_FI_DEV_FB_USED')!.filter(({ labels }) => labels['UUID'] === uuid)
    const boards = used.filter(({ labels }) => labels['pod'] === undefined)
    assert.equal(boards.length, 1)
    const ofEach = used.filter(({ labels }) => labels['pod'] !== undefined).map(({ value }) => Number(value))
    assert.equal(Number(boards[0]!.value), 4 + ofEach.reduce((sum, value) => sum + value, 0))
    assert.ok(clocks.every(({ labels }) => labels['UUID'] !== uuid || labels['pod'] !== undefined))

    const old = byName(samplesIn(render(simulated, '3.3.5', 3)))
    assert.equal(old.get('DCGM_FI_DEV_SM_CLOCK')!.length, 8)
  })

  it('names now this, now that pod of a shared GPU before 4.8', () => {
    const named = new Set<string>()
    for (let sample = 0; sample < 64; sample++) {
      const text = render(simulated, '3.3.5', 3, simulated.timeMs + sample * INTERVAL_MS)
      named.add(
        byName(samplesIn(text))
          .get('DCGM_FI_DEV_SM_CLOCK')!
          .map(({ labels }) => labels['pod'])
          .join(),
      )
    }
    assert.ok(named.size > 1)
  })

  it('puts the NVSwitches before or after the GPUs, as it happens', () => {
    const first = new Set<boolean>()
    for (let second = 0; second < 20; second++) {
      const text = render(simulated, '4.8', 0, simulated.timeMs + second * 1000)
      assert.match(text, /^DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT\{nvswitch="nvswitch0",Hostname="node-0"\} \d+$/m)
      first.add(text.startsWith('# HELP DCGM_FI_DEV_NVSWITCH'))
    }
    assert.equal(first.size, 2)
  })

  it('prints the value of what is not there in 1.x', () => {
    const families = byName(samplesIn(render(simulated, '1.x', 3)))
    assert.ok(families.get('dcgm_nvlink_bandwidth_total')!.every(({ value }) => value === '9223372036854775794'))
  })

  it('has an XID series only after an error in 4.8, with its code and message', () => {
    const other = cluster()
    const gpu = other.state.nodes[0]!.gpus[3]!
    for (const { gpus } of other.state.nodes) for (const each of gpus) each.xid = 0
    assert.doesNotMatch(render(other, '4.8', 0), /XID/)
    assert.match(render(other, '3.3.5', 0), /XID_ERRORS\{.*\} 0$/m)
    gpu.xid = 79
    const [sample, ...others] = byName(samplesIn(render(other, '4.8', 0))).get('DCGM_FI_DEV_XID_ERRORS')!
    assert.deepEqual(others, [])
    assert.equal(sample!.value, '79')
    assert.equal(sample!.labels['err_code'], '79')
    assert.equal(sample!.labels['err_msg'], 'GPU has fallen off the bus')
  })

  it('counts energy that never goes back and agrees with power', () => {
    const running = cluster()
    const read = (): Map<string, { power: number; energy: number }> => {
      const families = byName(samplesIn(render(running, '4.8', 0)))
      const energies = families.get('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION')!
      return new Map(
        families
          .get('DCGM_FI_DEV_POWER_USAGE')!
          .map(({ labels, value }, at) => [
            labels['UUID']!,
            { power: Number(value), energy: Number(energies[at]!.value) },
          ]),
      )
    }
    const first = read()
    const sums = new Map<string, number>()
    let previous = first
    const steps = 60 * 6
    for (let step = 1; step <= steps; step++) {
      running.advance(START_MS + 600_000 + step * INTERVAL_MS)
      const now = read()
      for (const [uuid, { power, energy }] of now) {
        assert.ok(energy >= previous.get(uuid)!.energy, 'energy goes back')
        sums.set(uuid, (sums.get(uuid) ?? 0) + power * (INTERVAL_MS / 1000))
      }
      previous = now
    }
    for (const [uuid, { energy }] of previous) {
      const joules = (energy - first.get(uuid)!.energy) / 1000
      assert.ok(Math.abs(sums.get(uuid)! / joules - 1) < 0.05, `${sums.get(uuid)} J by power, ${joules} J by counter`)
    }
  })

  it('is of several generations in a mixed fleet', () => {
    const versions = new Set(Array.from({ length: 8 }, (_, index) => generationOfNode('mixed', index).version))
    assert.deepEqual([...versions].toSorted(), [...GENERATIONS])
    assert.equal(generationOfNode('3.3.5', 5).version, '3.3.5')
  })
})
