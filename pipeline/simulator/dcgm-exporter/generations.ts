/** What distinguishes the generations of dcgm-exporter, as data. */

export const GENERATIONS = ['1.x', '2.x', '3.3.5', '4.8', '4.9'] as const
export type GenerationName = (typeof GENERATIONS)[number]

export type Generation = {
  readonly version: GenerationName
  /** Whose names: those of 1.x, the field names of DCGM up to 4.5, or those with base units. */
  readonly naming: 'old' | 'field' | 'base'
  readonly fieldIds: readonly number[]
  /** The template prints families by field id and values as `%d` or `%f`; expfmt prints by name and the shortest float. */
  readonly writer: 'template' | 'expfmt'
  /** Types that were declared otherwise in other generations. */
  readonly types: Readonly<Record<number, 'gauge' | 'counter'>>
  readonly uuidLabel: 'uuid' | 'UUID'
  readonly busIdLabel: boolean
  readonly deviceLabels: boolean
  readonly hostLabel?: 'Hostname' | 'hostname'
  /** Before NODE_NAME was honoured the host was the exporter's own pod. */
  readonly hostIs: 'pod' | 'node'
  readonly driverLabel?: string
  readonly podLabels: readonly [pod: string, namespace: string, container: string]
  readonly podLabelOrder: 'pod-first' | 'sorted'
  /** What the pod labels of a GPU are that nobody holds. */
  readonly idlePodLabels: 'absent' | 'empty'
  readonly mig: boolean
  /** One row per pod that shares a GPU (`--kubernetes-virtual-gpus`), and for some fields a reading by process. */
  readonly virtualGpus: boolean
  /** `err_code` and `err_msg` on the XID family, and no such series while there was no error. */
  readonly xidLabels: boolean
  /** What 1.x does with a field that a board does not have: prints DCGM's blank value. */
  readonly printsBlanks: boolean
  readonly switchFields: boolean
}

const CLASSIC_IDS = [100, 101, 140, 150, 155, 156, 202, 203, 204, 206, 207, 230, 251, 252, 393, 394, 395, 449, 526]
const PROFILING_IDS = [1001, 1004, 1005, 1009, 1010]

const COMMON = {
  naming: 'field',
  writer: 'template',
  types: {},
  uuidLabel: 'UUID',
  busIdLabel: false,
  deviceLabels: true,
  hostLabel: 'Hostname',
  hostIs: 'node',
  driverLabel: 'DCGM_FI_DRIVER_VERSION',
  podLabels: ['pod', 'namespace', 'container'],
  podLabelOrder: 'sorted',
  idlePodLabels: 'absent',
  mig: true,
  virtualGpus: false,
  xidLabels: false,
  printsBlanks: false,
  switchFields: false,
} as const satisfies Partial<Generation>

export const GENERATION: Readonly<Record<GenerationName, Generation>> = {
  '1.x': {
    version: '1.x',
    naming: 'old',
    fieldIds: [100, 101, 140, 150, 155, 156, 200, 201, 202, 203, 204, 206, 207, 230, 251, 252, 449, 1001, 1004, 1005],
    writer: 'template',
    types: {},
    uuidLabel: 'uuid',
    busIdLabel: false,
    deviceLabels: false,
    hostIs: 'node',
    podLabels: ['pod_name', 'pod_namespace', 'container_name'],
    podLabelOrder: 'pod-first',
    idlePodLabels: 'absent',
    mig: false,
    virtualGpus: false,
    xidLabels: false,
    printsBlanks: true,
    switchFields: false,
  },
  '2.x': {
    ...COMMON,
    version: '2.x',
    fieldIds: [...CLASSIC_IDS, ...PROFILING_IDS],
    hostIs: 'pod',
    idlePodLabels: 'empty',
  },
  '3.3.5': {
    ...COMMON,
    version: '3.3.5',
    fieldIds: [...CLASSIC_IDS, ...PROFILING_IDS],
    idlePodLabels: 'empty',
    switchFields: true,
  },
  '4.8': {
    ...COMMON,
    version: '4.8',
    fieldIds: [...CLASSIC_IDS, 253, ...PROFILING_IDS],
    busIdLabel: true,
    virtualGpus: true,
    xidLabels: true,
    switchFields: true,
  },
  '4.9': {
    ...COMMON,
    version: '4.9',
    naming: 'base',
    writer: 'expfmt',
    types: { 449: 'gauge' },
    fieldIds: [...CLASSIC_IDS, 250, 253, ...PROFILING_IDS],
    busIdLabel: true,
    hostLabel: 'hostname',
    driverLabel: 'DCGM_FI_SYSTEM_DRIVER_VERSION',
    virtualGpus: true,
    xidLabels: true,
  },
}

/** The generations of a fleet that is never upgraded at once. */
const MIXED_FLEET: readonly GenerationName[] = ['4.8', '3.3.5', '4.9', '4.8', '2.x', '4.9', '3.3.5', '1.x']

export function generationOfNode(chosen: GenerationName | 'mixed', nodeIndex: number): Generation {
  return GENERATION[chosen === 'mixed' ? MIXED_FLEET[nodeIndex % MIXED_FLEET.length]! : chosen]
}
