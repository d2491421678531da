/** The DaemonSet of dcgm-exporter: one pod per node, whose address is what a discovery would find. */
import { admitPod } from './accounting.ts'
import type { ClusterState } from './cluster-state.ts'
import { EXPORTER_NAMESPACE } from './namespaces.ts'
import { podIpOf } from './pod-address.ts'
import { ownerObject } from './objects/owner.ts'
import { podObject } from './objects/pod.ts'
import type { Owner, Pod } from './pod.ts'
import { createRandom, hashText } from './random.ts'

const NAME = 'nvidia-dcgm-exporter'

export function addExporterPods(state: ClusterState, seed: number): void {
  const random = createRandom(hashText('exporters', seed))
  const createdMs = Math.max(...state.nodes.map(node => node.createdMs))
  const daemonSet: Owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: NAME,
    namespace: EXPORTER_NAMESPACE,
    uid: random.uuid(),
    labels: { app: NAME },
    annotations: {},
    createdMs,
    spec: { selector: { matchLabels: { app: NAME } } },
    pods: new Set(),
    version: 0,
  }
  state.owners.add(daemonSet)
  state.changes.record('ADDED', daemonSet, ownerObject)
  const names = new Set<string>()
  for (const node of state.nodes) {
    const pod: Pod = {
      name: freshName(names, () => `${NAME}-${random.suffix(5)}`),
      namespace: EXPORTER_NAMESPACE,
      uid: random.uuid(),
      owner: daemonSet,
      generateName: `${NAME}-`,
      labels: { app: NAME, 'app.kubernetes.io/component': NAME },
      annotations: {},
      container: NAME,
      image: 'registry.example.com/nvidia/dcgm-exporter:4.8',
      schedulerName: 'default-scheduler',
      restartPolicy: 'Always',
      request: { kind: 'none' },
      cpuMillis: 100,
      memoryMiB: 256,
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
    node.exporterPod = pod
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
