/** What runs on every node: dcgm-exporter, whose address is what a discovery would find, and the services of a usual cluster. */
import { admitPod } from './accounting.ts'
import type { ClusterState } from './cluster-state.ts'
import { EXPORTER_NAMESPACE } from './namespaces.ts'
import { ownerObject } from './objects/owner.ts'
import { podObject } from './objects/pod.ts'
import { podIpOf } from './pod-address.ts'
import type { Owner, Pod } from './pod.ts'
import { createRandom, hashText } from './random.ts'

type Service = Pick<Pod, 'namespace' | 'container' | 'image' | 'cpuMillis' | 'memoryMiB'> & {
  readonly name: string
  /** Beside the name of the app. */
  readonly labels?: Readonly<Record<string, string>>
}

const EXPORTER = 'nvidia-dcgm-exporter'

const SERVICES: readonly Service[] = [
  {
    name: EXPORTER,
    namespace: EXPORTER_NAMESPACE,
    labels: { 'app.kubernetes.io/component': EXPORTER },
    container: EXPORTER,
    image: 'registry.example.com/nvidia/dcgm-exporter:4.8',
    cpuMillis: 100,
    memoryMiB: 256,
  },
  {
    name: 'nvidia-device-plugin-daemonset',
    namespace: EXPORTER_NAMESPACE,
    container: 'nvidia-device-plugin',
    image: 'registry.example.com/nvidia/k8s-device-plugin:0.18',
    cpuMillis: 0,
    memoryMiB: 0,
  },
  {
    name: 'kube-proxy',
    namespace: 'kube-system',
    container: 'kube-proxy',
    image: 'registry.example.com/kubernetes/kube-proxy:1.34',
    cpuMillis: 0,
    memoryMiB: 0,
  },
  {
    name: 'node-exporter',
    namespace: 'kube-system',
    container: 'node-exporter',
    image: 'registry.example.com/prometheus/node-exporter:1.10',
    cpuMillis: 50,
    memoryMiB: 64,
  },
]

export function addDaemonSets(state: ClusterState, seed: number): void {
  for (const service of SERVICES) addDaemonSet(state, seed, service)
}

function addDaemonSet(state: ClusterState, seed: number, service: Service): void {
  const { name, namespace, container, image, cpuMillis, memoryMiB } = service
  const own = hashText(name, seed)
  const random = createRandom(own, own)
  const createdMs = Math.max(...state.nodes.map(node => node.createdMs))
  const daemonSet: Owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name,
    namespace,
    uid: random.uuid(),
    labels: { app: name },
    annotations: {},
    createdMs,
    spec: { selector: { matchLabels: { app: name } } },
    pods: new Set(),
    version: 0,
  }
  state.owners.add(daemonSet)
  state.changes.record('ADDED', daemonSet, ownerObject)
  const names = new Set<string>()
  for (const node of state.nodes) {
    const pod: Pod = {
      name: freshName(names, () => `${name}-${random.suffix(5)}`),
      namespace,
      uid: random.uuid(),
      owner: daemonSet,
      generateName: `${name}-`,
      labels: { app: name, ...service.labels },
      annotations: {},
      container,
      image,
      schedulerName: 'default-scheduler',
      restartPolicy: 'Always',
      request: { kind: 'none' },
      cpuMillis,
      memoryMiB,
      createdMs,
      phase: 'Running',
      nodeName: node.name,
      podIp: podIpOf(random),
      claims: [],
      scheduledMs: createdMs,
      runningMs: createdMs + 5000,
      restarts: 0,
      version: 0,
    }
    if (name === EXPORTER) node.exporterPod = pod
    admitPod(node, pod, createdMs)
    daemonSet.pods.add(pod)
    state.pods.add(pod)
    state.changes.record('ADDED', pod, podObject)
  }
}

/** Suffixes are short, so that among thousands of pods two may be alike; the API server would draw again, too. */
function freshName(names: Set<string>, draw: () => string): string {
  let name = draw()
  while (names.has(name)) name = draw()
  names.add(name)
  return name
}
