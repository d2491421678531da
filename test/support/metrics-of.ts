/** Objects as kube-state-metrics tells of them, with all labels and annotations on its allow-lists. */
import { metricSpelling } from '../../pipeline/cluster/look-up.ts'
import type { Node, Pod } from '../../pipeline/cluster/objects.ts'
import { labelPairs, type Labels } from '../../pipeline/model/labels.ts'

export function metricsOfPod(pod: Pod): string {
  const id = labelText({ namespace: pod.namespace, pod: pod.name, uid: pod.uid })
  return [
    `kube_pod_info{${id},${labelText({ node: pod.node, pod_ip: pod.podIp })}} 1`,
    `kube_pod_labels{${id}${prefixed(pod.labels, 'label_')}} 1`,
    `kube_pod_annotations{${id}${prefixed(pod.annotations, 'annotation_')}} 1`,
    ...(pod.phase === undefined ? [] : [`kube_pod_status_phase{${id},${labelText({ phase: pod.phase })}} 1`]),
    '',
  ].join('\n')
}

export function metricsOfNode(node: Node): string {
  const id = labelText({ node: node.name })
  return [
    `kube_node_info{${id}} 1`,
    `kube_node_labels{${id}${prefixed(node.labels, 'label_')}} 1`,
    ...node.addresses.map(address => `kube_node_status_addresses{${id},${labelText({ address })}} 1`),
    '',
  ].join('\n')
}

function prefixed(labels: Labels, prefix: string): string {
  return labelPairs(labels)
    .map(([name, value]) => `,${labelText({ [`${prefix}${metricSpelling(name)}`]: value })}`)
    .join('')
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join()
}
