/** How a pod came to its labels, for programs and for people. */
import type { ExplainedDevice } from '../cluster/explain-devices.ts'
import type { ExplainedJoin, PodExplanation } from '../cluster/explain-pod.ts'
import type { OwnerChain, OwnerStep } from '../cluster/owner-chain.ts'
import { kindText } from '../cluster/workload-kinds.ts'

/** In which pipelines a processor is, by its id. */
export type PipelinesOf = (processor: string) => readonly string[]

/** 200 where there is a pod to speak of, 404 where there is none, 409 where it is not clear which. */
export function explainStatus({ found }: PodExplanation): number {
  if (typeof found !== 'string') return 200
  return found === 'unknown_pod' || found === 'other_uid' ? 404 : 409
}

export function explainJson(explanation: PodExplanation, pipelinesOf: PipelinesOf): unknown {
  const { name, namespace, namespaces, found, cluster, devices, joined } = explanation
  const common = {
    pod: name,
    ...(namespace !== undefined && { namespace }),
    outcome: typeof found === 'string' ? found : found.isGone ? 'gone' : 'found',
    namespaces,
    cluster,
    devices: devices?.map(deviceJson) ?? [],
  }
  if (typeof found === 'string') return { ...common, message: podLines(explanation).join(' ') }
  const { pod, from } = found
  return {
    ...common,
    from,
    uid: pod.uid,
    node: pod.node,
    phase: pod.phase,
    joined: joined.map(join => joinJson(join, pipelinesOf)),
  }
}

function deviceJson({ device, node, containers, share, isShared, because }: ExplainedDevice): unknown {
  const { id, part, profile, model, source } = device
  return { id, part, profile, model, node, containers, target: source.name, share, is_shared: isShared, because }
}

function joinJson({ joiner, chain, labels }: ExplainedJoin, pipelinesOf: PipelinesOf): unknown {
  return {
    processor: joiner.id,
    pipelines: pipelinesOf(joiner.id),
    is_holding: joiner.isHolding(),
    owners: chain.steps.map(step => ({
      kind: kindText(step.reference),
      name: step.reference.name,
      uid: step.reference.uid,
      how: step.how,
      is_read: step.object !== undefined,
      is_workload: step === chain.workload,
    })),
    end: chain.end,
    labels: labels.map(({ name, value = null, because }) => ({ name, value, because })),
  }
}

export function explainText(explanation: PodExplanation, pipelinesOf: PipelinesOf): string {
  const { found, joined } = explanation
  const parts = [podLines(explanation), deviceLines(explanation)]
  if (typeof found !== 'string') parts.push(...joined.map(join => joinLines(join, pipelinesOf(join.joiner.id))))
  if (typeof found !== 'string' && joined.length === 0) {
    parts.push(['No pipeline has the processor join_workload, so nothing is added to its series.'])
  }
  return parts.map(lines => lines.join('\n')).join('\n\n')
}

function podLines({ name, namespace, namespaces, found, cluster }: PodExplanation): string[] {
  const full = namespace === undefined ? name : `${namespace}/${name}`
  switch (found) {
    case 'several_namespaces':
      return [
        `There are pods ${name} in the namespaces ${namespaces.join(', ')}.`,
        'Say which is meant: --namespace NAMESPACE, or namespace=NAMESPACE in the address.',
      ]
    case 'several_pods':
      return [
        `There are several pods ${full}, and nothing tells which is the last. What names no uid gets no labels of theirs.`,
      ]
    case 'unknown_pod':
    case 'other_uid':
      return [
        `Pod ${full} is not known${namespace === undefined ? ' in any namespace' : ''}.`,
        ...(namespaces.length > 0 ? [`There are pods ${name} in: ${namespaces.join(', ')}.`] : []),
        ...(cluster === 'reading' ? ['The cluster is still being read.'] : []),
        ...(cluster === 'nobody reads it'
          ? ['Nobody tells of pods: that takes the receiver kubernetes_api, or kube_state_metrics with normalize.']
          : []),
      ]
    default: {
      const { pod, from, isGone } = found
      const facts = [
        ...(pod.uid === '' ? [] : [`uid ${pod.uid}`]),
        pod.node === '' ? 'bound to no node' : `on node ${pod.node}`,
        ...(pod.phase === undefined ? [] : [pod.phase]),
        ...(pod.deletingMs === undefined || isGone ? [] : ['being deleted']),
      ]
      return [
        `Pod ${full}`,
        `  known from ${from}: ${facts.join(', ')}`,
        ...(isGone ? ['  It is gone: it labels samples that come late, and counts nowhere.'] : []),
        ...(cluster === 'reading' ? ['  The cluster is still being read.'] : []),
      ]
    }
  }
}

function deviceLines({ devices }: PodExplanation): string[] {
  if (devices === undefined) {
    return ['No devices are known: that takes a receiver of GPUs, such as dcgm, with normalize.']
  }
  const has = devices.filter(({ share }) => share > 0)
  const isNamedBy = devices.filter(({ share }) => share === 0)
  return [
    ...(has.length === 0 ? ['It has no device.'] : ['Devices that it has:', ...has.flatMap(linesOfDevice)]),
    ...(isNamedBy.length === 0
      ? []
      : ['Devices that name it and that it does not have:', ...isNamedBy.flatMap(linesOfDevice)]),
  ]
}

function linesOfDevice({ device, node, containers, share, isShared, because }: ExplainedDevice): string[] {
  const { id, part, profile, model, source } = device
  const target = source.name
  const facts = [
    ...(part === undefined ? [] : [`instance ${part}`]),
    ...(profile === undefined ? [] : [profile]),
    ...(model === undefined ? [] : [model]),
    ...(node === undefined ? [] : [`on ${node}`]),
    ...containers.map(container => `container ${container}`),
    `shown by ${target}`,
  ]
  const howMuch = share === 1 ? 'all of it' : `${share} of it`
  const held = share === 0 ? '' : `${howMuch}${isShared ? ', which is shared' : ''}: `
  return [`  ${id}: ${facts.join(', ')}`, `    ${held}${because}`]
}

function joinLines({ joiner, chain, labels }: ExplainedJoin, pipelines: readonly string[]): string[] {
  const where =
    pipelines.length === 0 ? '' : ` in the ${pipelines.length === 1 ? 'pipeline' : 'pipelines'} ${pipelines.join(', ')}`
  const shown = labels.map(({ name, value, because }) => [name, value ?? '-', because] as const)
  const widths = [0, 1].map(column => Math.max(0, ...shown.map(row => row[column]!.length)))
  return [
    `${joiner.id}${where}:`,
    ...(joiner.isHolding() ? ['  Series of pods are held back until the cluster has been read.'] : []),
    ...chain.steps.map((step, i) => `  ${i + 1}. ${stepText(step, chain)}`),
    `  ${endText(chain)}`,
    ...shown.map(([name, value, because]) => `  ${name.padEnd(widths[0]!)}  ${value.padEnd(widths[1]!)}  ${because}`),
  ]
}

function stepText(step: OwnerStep, { workload }: OwnerChain): string {
  const { reference, how } = step
  return `${kindText(reference)} ${reference.name}, ${HOW[how]}${step === workload ? ': the workload' : ''}`
}

const HOW: Readonly<Record<OwnerStep['how'], string>> = {
  controller: 'its controller',
  'only owner': 'its only owner',
  'first of several owners': 'the first of several owners, none of which is its controller',
  label: 'by a label of the pod',
  guess: 'guessed from the name',
}

function endText({ steps, end }: OwnerChain): string {
  if (steps.length === 0) return end === 'node' ? 'A node owns it: it is its own workload.' : OWN
  switch (end) {
    case 'top':
      return 'Nothing owns that.'
    case 'unreadable':
      if (['label', 'guess'].includes(steps.at(-1)!.how)) return 'What is below that cannot be read.'
      return 'That cannot be read (gone, forbidden, or no such kind), so the way ends there.'
    case 'stop':
      return 'The way ends at that kind, whatever owns it.'
    case 'node':
      return 'A node owns that, which is no workload.'
    case 'cycle':
      return 'What owns that is on the way already, so the way ends there.'
    case 'depth':
      return 'The way is as long as it may be, so it ends there.'
    case 'waiting':
      return 'That has not been read yet: what depends on it is not added until it is.'
  }
}

const OWN = 'Nothing owns it: it is its own workload.'
