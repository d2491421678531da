/** What can be said about a simulated cluster: the config of the extension, and the options of the command. */
import type { ConfigSchema, Problem } from '../component.ts'
import type { FromSchema } from 'json-schema-to-ts'
import { duration, endpoint as endpointField, parseDuration, parseEndpoint } from '../config/fields.ts'
import { GENERATIONS } from './dcgm-exporter/generations.ts'
import { FACE_NAMES } from './face.ts'
import { FAULT_KINDS, KUBERNETES_API_FAULTS, type Fault } from './faults.ts'
import { nodeEndpoint } from './node-listeners.ts'
import type { SimulationOptions } from './simulation.ts'

const allowList = {
  type: 'object',
  additionalProperties: { type: 'array', items: { type: 'string' } },
} as const

const fault = {
  type: 'object',
  properties: {
    kind: { enum: FAULT_KINDS, description: 'What goes wrong.' },
    face: { enum: FACE_NAMES, default: 'dcgm_exporter', description: 'With which servers.' },
    endpoints: {
      type: 'array',
      items: { type: 'string' },
      description:
        'With which of them, if not all: names of nodes, or for kube_state_metrics numbers of shards. The Kubernetes API is one.',
    },
    from: duration('When it begins, since the start of the simulator.', '0s'),
    for: duration('How long it lasts; for good if this is missing.'),
    every: duration('From one beginning to the next, if it comes again.'),
    delay: duration('`slow`: how late answers are.', '1s'),
    status: { type: 'integer', minimum: 400, maximum: 599, default: 500, description: '`error`: with which status.' },
    share: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Which part of the lines is hit (0.05), or, for `truncate`, how much of the text is left (0.5).',
    },
    skew_seconds: {
      type: 'number',
      default: 300,
      description: '`clock_skew`: how far the clock of the server is ahead; negative if it is behind.',
    },
    resources: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description:
        '`deny`: what may not be read any more, as `pods`, `nodes/proxy` or `queues.scheduling.run.ai`. Default: everything.',
    },
    verbs: {
      type: 'array',
      items: { enum: ['get', 'list', 'watch'] },
      minItems: 1,
      description: '`deny`: which of get, list and watch; default: all.',
    },
  },
  required: ['kind'],
  additionalProperties: false,
} as const

const names = { type: 'array', items: { type: 'string' }, minItems: 1 } as const

const token = {
  type: 'object',
  properties: {
    token: { type: 'string', minLength: 1, description: 'What the client sends as `Authorization: Bearer TOKEN`.' },
    user: {
      type: 'string',
      default: 'system:serviceaccount:gpucol:gpucol',
      description: 'Whose it is: the name in refusals.',
    },
    rules: {
      type: 'array',
      description: 'What they may read, as in a ClusterRole; everything if this is missing.',
      items: {
        type: 'object',
        properties: {
          apiGroups: { ...names, description: 'Groups: `""` is the core, `*` every one.' },
          resources: { ...names, description: 'Plural names, as `pods` or `nodes/proxy`; `*` is every one.' },
          verbs: { ...names, description: 'Of get, list and watch; `*` is all.' },
        },
        required: ['apiGroups', 'resources', 'verbs'],
        additionalProperties: false,
      },
    },
  },
  required: ['token'],
  additionalProperties: false,
} as const

/** Ports of single nodes are practical for a few, and a waste for thousands. */
const MOST_NODE_PORTS = 16

export const simulatorConfig = {
  type: 'object',
  properties: {
    nodes: { type: 'integer', minimum: 1, maximum: 25_000, default: 4, description: 'How many nodes the cluster has.' },
    gpus_per_node: {
      type: 'integer',
      minimum: 1,
      maximum: 16,
      default: 8,
      description: 'How many GPUs each node has.',
    },
    seed: { type: 'integer', minimum: 0, default: 1, description: 'The same seed gives the same cluster.' },
    endpoint: endpointField(
      'Address of all servers of the cluster: /nodes/NODE/metrics is the dcgm-exporter of a node (node-0, node-1 and so on), /nodes/NODE/metrics/resource and /nodes/NODE/metrics/cadvisor are its kubelet, /nodes/NODE/node-exporter/metrics and /nodes/NODE/runai-node-exporter/metrics its other exporters; /kube-state-metrics/metrics is kube-state-metrics (/kube-state-metrics/0/metrics and so on if it has shards), /api and /apis are the Kubernetes API.',
      '127.0.0.1:19400',
    ),
    node_ports: {
      type: 'boolean',
      description: `Give each node a port of its own too, with its dcgm-exporter at /metrics and its kubelet at /metrics/resource: the first node the port after \`endpoint\`, and so on. Default: up to ${MOST_NODE_PORTS} nodes.`,
    },
    generation: {
      enum: [...GENERATIONS, 'mixed'],
      default: '4.8',
      description: 'Whose text the dcgm-exporters speak: that of one version, or each node that of another.',
    },
    collect_interval: duration('How often DCGM takes a sample; between two, readings repeat.', '10s'),
    start: {
      type: 'string',
      description:
        'What the clock of the cluster shows at first, as 2026-01-31T08:00:00Z. Default: the time of the machine.',
    },
    speed: {
      type: 'number',
      minimum: 0,
      maximum: 10_000,
      default: 1,
      description: 'Seconds of the cluster in one second; 0 lets its clock stand.',
    },
    kube_state_metrics: {
      type: 'object',
      default: {},
      description: 'kube-state-metrics.',
      properties: {
        version: {
          enum: [1, 2],
          default: 2,
          description: 'Which major version. 1 shows all labels and no annotations, whatever is said below.',
        },
        shards: { type: 'integer', minimum: 1, maximum: 64, default: 1, description: 'How many there are.' },
        labels: {
          ...allowList,
          default: { pods: ['*'], nodes: ['*'], namespaces: ['*'] },
          description: 'Labels of objects to show, by resource; * means all.',
        },
        annotations: {
          ...allowList,
          default: { pods: ['*'], namespaces: ['*'] },
          description: 'Annotations of objects to show, by resource; * means all.',
        },
      },
      additionalProperties: false,
    },
    kubernetes_api: {
      type: 'object',
      default: {},
      description: 'The Kubernetes API.',
      properties: {
        streaming_lists: {
          type: 'boolean',
          default: false,
          description: 'Answer watches with `sendInitialEvents`, as API servers from 1.34 on do.',
        },
        tokens: {
          type: 'array',
          items: token,
          minItems: 1,
          description:
            'Who may read what. Who sends none of these tokens is answered 401, and 403 for what no rule covers. Without this everybody may read everything.',
        },
      },
      additionalProperties: false,
    },
    faults: { type: 'array', items: fault, default: [], description: 'What goes wrong, where and when.' },
  },
} as const satisfies ConfigSchema

export type SimulatorConfig = FromSchema<typeof simulatorConfig>

export function simulationOptions(config: SimulatorConfig): SimulationOptions {
  return {
    nodes: config.nodes,
    gpusPerNode: config.gpus_per_node,
    seed: config.seed,
    endpoint: config.endpoint,
    nodePorts: hasNodePorts(config),
    ...(config.start !== undefined && { startMs: Date.parse(config.start) }),
    speed: config.speed,
    dcgmExporter: { generation: config.generation, collectIntervalMs: parseDuration(config.collect_interval) },
    kubeStateMetrics: config.kube_state_metrics,
    kubernetesApi: {
      streamingLists: config.kubernetes_api.streaming_lists,
      ...(config.kubernetes_api.tokens && { tokens: config.kubernetes_api.tokens }),
    },
    faults: config.faults.map(faultFrom),
  }
}

/** All addresses that it listens on. */
export function simulatorAddresses(config: SimulatorConfig): string[] {
  const nodes = hasNodePorts(config) ? config.nodes : 0
  return [config.endpoint, ...Array.from({ length: nodes }, (_, index) => nodeEndpoint(config.endpoint, index))]
}

/** What the schema cannot say. */
export function simulatorProblems(config: SimulatorConfig): Problem[] {
  return [...startProblems(config.start), ...portProblems(config), ...tokenProblems(config), ...faultProblems(config)]
}

type FaultConfig = FromSchema<typeof fault>

function faultFrom(config: FaultConfig): Fault {
  return {
    kind: config.kind,
    face: config.face,
    ...(config.endpoints && { endpoints: config.endpoints }),
    fromMs: parseDuration(config.from),
    ...(config.for !== undefined && { forMs: parseDuration(config.for) }),
    ...(config.every !== undefined && { everyMs: parseDuration(config.every) }),
    delayMs: parseDuration(config.delay),
    status: config.status,
    ...(config.share !== undefined && { share: config.share }),
    skewMs: config.skew_seconds * 1000,
    ...(config.resources && { resources: config.resources }),
    ...(config.verbs && { verbs: config.verbs }),
  }
}

function hasNodePorts({ node_ports: wanted, nodes }: SimulatorConfig): boolean {
  return wanted ?? nodes <= MOST_NODE_PORTS
}

function startProblems(start: string | undefined): Problem[] {
  if (start === undefined || !Number.isNaN(Date.parse(start))) return []
  return [{ path: ['start'], message: `"${start}" is not a moment such as 2026-01-31T08:00:00Z` }]
}

function portProblems(config: SimulatorConfig): Problem[] {
  const { port } = parseEndpoint(config.endpoint)
  if (port === 0 || !hasNodePorts(config) || port + config.nodes <= 65_535) return []
  return [{ path: ['nodes'], message: `${config.nodes} nodes do not all get a port after ${port}` }]
}

function tokenProblems({ kubernetes_api: { tokens = [] } }: SimulatorConfig): Problem[] {
  return tokens.flatMap(({ token }, at) => {
    const first = tokens.findIndex(other => other.token === token)
    if (first === at) return []
    const message = `token ${at + 1} is the same as token ${first + 1}: whose it is could not be told`
    return [{ path: ['kubernetes_api', 'tokens', at, 'token'], message }]
  })
}

/** A fault that its server cannot have would pass without a trace. */
function faultProblems({ faults }: SimulatorConfig): Problem[] {
  return faults.flatMap(({ kind, face, resources, verbs }, at) => {
    const problems: Problem[] = []
    if (KUBERNETES_API_FAULTS.has(kind) && face !== 'kubernetes_api') {
      const message = `\`${kind}\` is a fault of the Kubernetes API: it needs \`face: kubernetes_api\`, not ${face}`
      problems.push({ path: ['faults', at, 'face'], message })
    }
    for (const [key, value] of Object.entries({ resources, verbs })) {
      if (value === undefined || kind === 'deny') continue
      problems.push({ path: ['faults', at, key], message: `${key} are for the fault \`deny\`, not for \`${kind}\`` })
    }
    return problems
  })
}
