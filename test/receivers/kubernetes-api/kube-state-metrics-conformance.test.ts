/**
 * The cases of kube-state-metrics: objects, and the samples that it makes of them. Of the families that the receiver has, too, it must
 * make the same samples; and the model must be the same, whether it was told the object or those samples. What is different on
 * purpose is listed, with the reason, in `kube-state-metrics-deviations.json`; a listed case that passes is a failure, too.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { keepMetadata, type SentObject } from '../../../pipeline/cluster/keep-metadata.ts'
import { keepPod } from '../../../pipeline/cluster/keep-pod.ts'
import { metricSpelling } from '../../../pipeline/cluster/look-up.ts'
import type { Container, KubernetesMetadata, Pod } from '../../../pipeline/cluster/objects.ts'
import { metadataFromSeen, podFromSeen } from '../../../pipeline/cluster/seen-metadata.ts'
import type { SeenObject } from '../../../pipeline/cluster/seen-object.ts'
import { labelPairs, type Labels } from '../../../pipeline/model/labels.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { samplesIn, type Sample } from '../../pipeline/simulator/samples.ts'
import { createNormalizer } from '../../support/normalized.ts'
import { sharedJson } from '../../support/shared.ts'
import { FACT_FAMILIES, factSamples } from './fact-samples.ts'
import { testReceiver } from './test-receiver.ts'

type Case = {
  readonly name: string
  readonly object: SentObject & { readonly kind: 'Pod' | 'Node' | 'Namespace' }
  readonly metric_names?: readonly string[]
  readonly allow_labels?: unknown
  readonly allow_annotations?: unknown
  readonly samples: readonly Sample[]
  readonly headers: readonly string[]
}
type Listed = { readonly case: string; readonly reason: string }

const { families: otherFamilies, cases: deviations } = JSON.parse(
  readFileSync(new URL('kube-state-metrics-deviations.json', import.meta.url), 'utf8'),
) as { families: { readonly family: string; readonly reason: string }[]; cases: Listed[] }

describe('conformance with the cases of kube-state-metrics', () => {
  const cases = ['pod', 'node', 'namespace'].flatMap(
    kind => sharedJson<{ cases: Case[] }>('conformance', 'kube-state-metrics', `${kind}.json`)?.cases ?? [],
  )
  if (cases.length === 0) return
  const families = new Set(cases.flatMap(familiesOf))

  it('passes all but those that are listed', async () => {
    const listed = new Set(deviations.map(one => one.case))
    const failures: string[] = []
    for (const one of cases) {
      if (!listed.has(one.name))
        await check(one).catch((error: Error) => failures.push(`${one.name}: ${error.message}`))
    }
    const samples = cases.flatMap(one => one.samples)
    const ours = samples.filter(({ name }) => FACT_FAMILIES.has(name))
    process.stdout.write(
      `      ${cases.length} cases, ${deviations.length} of them listed; ${ours.length} of ${samples.length} samples are of families that are made\n`,
    )
    assert.deepEqual(failures, [])
  })

  it('lists only cases that exist and that it does not pass', async () => {
    for (const { case: name, reason } of deviations) {
      assert.ok(reason.length > 20, `${name}: no reason`)
      const listed = cases.find(one => one.name === name)
      assert.ok(listed !== undefined, `${name}: no such case`)
      await assert.rejects(check(listed), `${name} passes; take it off the list`)
    }
  })

  it('has each family either made or listed', () => {
    const patterns = otherFamilies.map(({ family }) => new RegExp(`^${family}$`))
    for (const family of families) {
      const count = patterns.filter(pattern => pattern.test(family)).length + Number(FACT_FAMILIES.has(family))
      assert.equal(count, 1, `${family} is made or listed ${count} times`)
    }
    for (const [i, pattern] of patterns.entries()) {
      assert.ok(
        [...families].some(family => pattern.test(family)),
        `${otherFamilies[i]!.family}: no such family`,
      )
    }
  })
})

async function check(one: Case): Promise<void> {
  assert.deepEqual(await made(one), factSamples(one.samples))
  sameModel(one)
}

function familiesOf({ metric_names: names, headers }: Case): string[] {
  return [...(names ?? headers.flatMap(line => /^# TYPE (\S+)/.exec(line)?.[1] ?? []))]
}

async function made(one: Case): Promise<string[]> {
  const receiver = testReceiver([asServed(one.object)])
  await receiver.start()
  const text = `${receiver.text('kube_').join('\n')}\n`
  receiver.stop()
  const families = familiesOf(one)
  return factSamples(samplesIn(text), family => families.includes(family))
}

/** No API server has a reference without a version. */
function asServed({ metadata, ...rest }: SentObject): GivenObject {
  const { ownerReferences = [] } = metadata as { ownerReferences?: object[] }
  const references = ownerReferences.map(reference => ({ apiVersion: 'apps/v1', uid: 'of the owner', ...reference }))
  return { ...rest, metadata: { ...metadata, ownerReferences: references } } as unknown as GivenObject
}

/** What a family tells of an object. */
const TELLS: Readonly<Record<string, (object: Pod) => unknown>> = {
  kube_pod_info: ({ node, podIp, owners }) => [node, podIp, owners.find(({ controller }) => controller)?.name],
  kube_pod_owner: ({ owners }) => owners.map(({ kind, name, controller }) => [kind, name, controller]),
  kube_pod_labels: told(({ labels }) => labels),
  kube_pod_annotations: told(({ annotations }) => annotations),
  kube_pod_status_phase: ({ phase }) => phase,
  kube_pod_created: ({ createdMs }) => createdMs,
  kube_pod_start_time: ({ startedMs }) => startedMs,
  kube_pod_completion_time: ({ finishedMs }) => finishedMs,
  kube_pod_deletion_timestamp: ({ deletingMs }) => deletingMs,
  kube_pod_container_resource_requests: ({ containers }) => amounts(containers, 'requests'),
  kube_pod_container_resource_limits: ({ containers }) => amounts(containers, 'limits'),
  kube_node_labels: told(({ labels }) => labels),
  kube_namespace_labels: told(({ labels }) => labels),
  kube_namespace_annotations: told(({ annotations }) => annotations),
}

function sameModel(one: Case): void {
  const { object, samples } = one
  const isPod = object.kind === 'Pod'
  const read = isPod ? keepPod(object) : keepMetadata(object, { group: '', kind: object.kind })
  const normalizer = createNormalizer()
  normalizer.give(samples.map(textOf).join(''))
  const [seen] = [...normalizer.host.cluster.table<SeenObject>('seen_objects').values()]
  for (const family of familiesOf(one)) {
    const tells = TELLS[family]
    if (tells === undefined || !samples.some(({ name }) => name === family)) continue
    assert.ok(seen !== undefined, 'nothing was seen')
    assert.deepEqual(tells((isPod ? podFromSeen(seen) : metadataFromSeen(seen)) as Pod), tells(read as Pod), family)
  }
}

function textOf({ name, labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
  return `${name}{${pairs.join(',')}} ${value}\n`
}

/** In the spelling of metrics. */
function told(of: (object: KubernetesMetadata) => Labels): (object: KubernetesMetadata) => unknown {
  return object =>
    labelPairs(of(object))
      .map(([name, value]) => `${metricSpelling(name)}=${value}`)
      .toSorted()
}

function amounts(containers: readonly Container[], what: 'requests' | 'limits'): string[] {
  return containers
    .flatMap(container =>
      [...container[what]].map(([name, amount]) => `${container.name} ${metricSpelling(name)} ${amount}`),
    )
    .toSorted()
}
