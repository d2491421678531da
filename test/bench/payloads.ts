/** Payloads as exporters write them, many and with changing values, for benchmarks. */

const FIELDS = [
  'SM_CLOCK',
  'MEM_CLOCK',
  'MEMORY_TEMP',
  'GPU_TEMP',
  'POWER_USAGE',
  'TOTAL_ENERGY_CONSUMPTION',
  'PCIE_REPLAY_COUNTER',
  'GPU_UTIL',
  'MEM_COPY_UTIL',
  'ENC_UTIL',
  'DEC_UTIL',
  'XID_ERRORS',
  'FB_FREE',
  'FB_USED',
  'FB_RESERVED',
  'NVLINK_BANDWIDTH_TOTAL',
  'VGPU_LICENSE_STATUS',
  'UNCORRECTABLE_REMAPPED_ROWS',
  'CORRECTABLE_REMAPPED_ROWS',
  'ROW_REMAP_FAILURE',
  'GR_ENGINE_ACTIVE',
  'PIPE_TENSOR_ACTIVE',
  'DRAM_ACTIVE',
  'PCIE_TX_BYTES',
  'PCIE_RX_BYTES',
]

export const DCGM_SERIES = 8 * FIELDS.length

/** One scrape of a node with eight GPUs, most of them with a pod: 200 series, 330 bytes each. */
export function dcgmPayload(node: number, scrape: number): Buffer {
  const blocks = Array.from({ length: 8 }, (_, gpu) => {
    const pod =
      (node + gpu) % 10 === 0
        ? ''
        : `,container="main",namespace="team-${node % 40}",pod="train-${node % 97}-worker-${gpu}"`
    return dcgmLabels(gpu, `${node}-${gpu}`.padStart(12, '0'), String(node).padStart(5, '0'), pod)
  })
  return Buffer.from(dcgmText(blocks, node * 7919 + scrape * 104_729 + 1))
}

/** The labels of a GPU as dcgm-exporter writes them; `id` ends its UUID. */
export function dcgmLabels(gpu: number, id: string, node: string, pod: string): string {
  return `{gpu="${gpu}",UUID="GPU-8f3a2b1c-77aa-4c3d-9e21-${id}",pci_bus_id="00000000:0${gpu}:00.0",device="nvidia${gpu}",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-node-${node}.cluster.local",DCGM_FI_DRIVER_VERSION="550.90.07"${pod}}`
}

/** All fields of these GPUs, with values by chance. */
export function dcgmText(labels: readonly string[], seed: number): string {
  const random = createRandom(seed)
  let text = ''
  for (const [index, field] of FIELDS.entries()) {
    const name = index < 20 ? `DCGM_FI_DEV_${field}` : `DCGM_FI_PROF_${field}`
    text += `# HELP ${name} What ${field.toLowerCase()} says of the device (in its unit).\n# TYPE ${name} gauge\n`
    for (const block of labels) text += `${name}${block} ${value(index, random)}\n`
  }
  return text
}

/** As dcgm-exporter prints them: whole numbers as they are, others with six decimals. */
function value(field: number, random: () => number): string {
  if (field === 4 || (field >= 20 && field < 23)) return (random() * (field === 4 ? 700 : 1)).toFixed(6)
  if (field === 5) return String(Math.floor(random() * 1e12))
  // Yes or no.
  if (field === 16 || field === 19) return String(Math.floor(random() * 2))
  if (field > 22) return String(Math.floor(random() * 1e10))
  return String(Math.floor(random() * (field < 2 ? 2600 : field > 11 && field < 15 ? 80_000 : 100)))
}

/** Families of kube-state-metrics, each with the labels that its lines have besides those of the pod. */
const KSM_FAMILIES: readonly (readonly [name: string, lines: readonly string[]])[] = [
  [
    'kube_pod_info',
    ['host_ip="10.0.0.1",pod_ip="10.1.2.3",node="gpu-node-17",created_by_kind="Job",created_by_name="train"'],
  ],
  ['kube_pod_owner', ['owner_kind="Job",owner_name="train-llama",owner_is_controller="true"']],
  ['kube_pod_created', ['']],
  ['kube_pod_start_time', ['']],
  ['kube_pod_restart_policy', ['type="Never"']],
  ['kube_pod_status_phase', values('phase', ['Pending', 'Succeeded', 'Failed', 'Unknown', 'Running'])],
  ['kube_pod_status_ready', values('condition', ['true', 'false', 'unknown'])],
  ['kube_pod_status_scheduled', values('condition', ['true', 'false', 'unknown'])],
  ['kube_pod_status_qos_class', values('qos_class', ['BestEffort', 'Burstable', 'Guaranteed'])],
  [
    'kube_pod_status_reason',
    values('reason', ['Evicted', 'NodeAffinity', 'NodeLost', 'Shutdown', 'UnexpectedAdmissionError']),
  ],
  ['kube_pod_container_status_running', ['container="main"']],
  ['kube_pod_container_status_waiting', ['container="main"']],
  ['kube_pod_container_status_ready', ['container="main"']],
  ['kube_pod_container_status_restarts_total', ['container="main"']],
  [
    'kube_pod_container_resource_requests',
    ['cpu",unit="core', 'memory",unit="byte', 'nvidia_com_gpu",unit="integer'].map(
      resource => `container="main",node="gpu-node-17",resource="${resource}"`,
    ),
  ],
]
export const KSM_LINES_PER_POD = KSM_FAMILIES.reduce((sum, [, lines]) => sum + lines.length, 0)

function values(label: string, all: readonly string[]): string[] {
  return all.map(value => `${label}="${value}"`)
}

/** One scrape of kube-state-metrics, which writes its objects in another order for every family and every time. */
export function kubeStatePayload(pods: number, scrape: number): Buffer {
  const random = createRandom(scrape + 1)
  let text = ''
  for (const [family, lines] of KSM_FAMILIES) {
    text += `# HELP ${family} What ${family} says of a pod.\n# TYPE ${family} gauge\n`
    for (const pod of shuffled(pods, random)) {
      const id = String(pod).padStart(12, '0')
      const block = `{namespace="team-${pod % 40}",pod="train-${pod}-worker-0",uid="7d5f0c1e-52c1-4b8e-9d3a-${id}"`
      for (const more of lines) {
        text += `${family}${block}${more === '' ? '' : ','}${more}} ${Math.floor(random() * 100)}\n`
      }
    }
  }
  return Buffer.from(text)
}

function shuffled(count: number, random: () => number): Uint32Array {
  const numbers = Uint32Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const swapped = numbers[i]!
    numbers[i] = numbers[j]!
    numbers[j] = swapped
  }
  return numbers
}

function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
