import assert from 'node:assert/strict'
import { createSimulatedCluster, type SimulatedCluster } from '../../../pipeline/simulator/cluster.ts'
import type { KubernetesObject, ObjectChange } from '../../../pipeline/simulator/kubernetes-object.ts'
import { isFinished, type GpuRequest } from '../../../pipeline/simulator/pod.ts'
import { WORKLOAD_KINDS } from '../../../pipeline/simulator/workload-kinds/all.ts'

const START_MS = Date.parse('2026-03-02T09:00:00Z')
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

function cluster(options: { seed?: number; nodes?: number } = {}): SimulatedCluster {
  return createSimulatedCluster({ seed: 1, nodes: 4, gpusPerNode: 8, startMs: START_MS, ...options })
}

function json(simulated: SimulatedCluster): string {
  return JSON.stringify([...simulated.objects()])
}

function devicesWanted(request: GpuRequest): number {
  switch (request.kind) {
    case 'none':
      return 0
    case 'mig':
      return 1
    case 'fraction':
      return request.devices
    case 'whole':
    case 'time_slicing':
      return request.count
  }
}

describe('the simulated cluster', () => {
  it('is the same for the same seed, size and time, however it got there', () => {
    const leaping = cluster()
    leaping.advance(START_MS + 6 * HOUR_MS)
    const stepping = cluster()
    const watched = cluster()
    watched.watch(() => {})
    for (let minute = 1; minute <= 360; minute++) {
      stepping.advance(START_MS + minute * MINUTE_MS)
      if (minute % 7 === 0 || minute === 360) watched.advance(START_MS + minute * MINUTE_MS)
    }
    assert.equal(json(stepping), json(leaping))
    assert.equal(json(watched), json(leaping))
    assert.equal(stepping.resourceVersion, leaping.resourceVersion)
  })

  it('is another one for another seed', () => {
    assert.notEqual(json(cluster({ seed: 2 })), json(cluster()))
  })

  it('does not go back in time', () => {
    const simulated = cluster()
    simulated.advance(START_MS + 1000)
    assert.throws(() => simulated.advance(START_MS), /does not go back/)
  })

  it('tells every change: who follows the events has the same objects as who lists them', () => {
    const simulated = cluster()
    const objects = new Map<string, KubernetesObject>(
      [...simulated.objects()].map(object => [object.metadata.uid, object]),
    )
    let version = Number(simulated.resourceVersion)
    const problems: string[] = []
    simulated.watch(({ type, object }: ObjectChange) => {
      const { uid, resourceVersion } = object.metadata
      if (Number(resourceVersion) <= version) problems.push(`${type} ${uid} is not newer`)
      version = Number(resourceVersion)
      if ((type === 'ADDED') === objects.has(uid)) problems.push(`${type} of ${object.kind} ${object.metadata.name}`)
      if (type === 'DELETED') objects.delete(uid)
      else objects.set(uid, object)
    })
    for (let hour = 1; hour <= 12; hour++) {
      simulated.advance(START_MS + hour * HOUR_MS)
      const listed = new Map([...simulated.objects()].map(object => [object.metadata.uid, object]))
      assert.deepEqual([...objects.keys()].toSorted(), [...listed.keys()].toSorted())
      for (const [uid, object] of listed) assert.deepEqual(objects.get(uid), object)
    }
    assert.deepEqual(problems, [])
  })

  it('shows every kind of workload in a day, in every state', () => {
    const simulated = cluster({ nodes: 8 })
    const kinds = new Set<string>()
    const phases = new Set<string>()
    let restarted = 0
    let terminating = 0
    for (let quarter = 0; quarter <= 96; quarter++) {
      simulated.advance(START_MS + quarter * 15 * MINUTE_MS)
      for (const owner of simulated.state.owners) kinds.add(owner.kind)
      for (const pod of simulated.state.pods) {
        phases.add(pod.phase === 'Pending' ? `Pending, ${pod.nodeName === undefined ? 'waiting' : 'bound'}` : pod.phase)
        restarted += pod.restarts
        if (pod.deletionMs !== undefined) terminating++
      }
    }
    for (const kind of [...WORKLOAD_KINDS.map(({ name }) => name), 'CronJob']) assert.ok(kinds.has(kind), kind)
    assert.deepEqual([...phases].toSorted(), ['Failed', 'Pending, bound', 'Pending, waiting', 'Running', 'Succeeded'])
    assert.ok(restarted > 0 && terminating > 0)
  })

  it('makes pods anew under the same name when a training job fails', () => {
    const simulated = cluster({ nodes: 8 })
    const uids = new Map<string, Set<string>>()
    for (let minute = 0; minute <= 24 * 60; minute += 5) {
      simulated.advance(START_MS + minute * MINUTE_MS)
      for (const { namespace, name, uid } of simulated.state.pods) {
        const key = `${namespace}/${name}`
        uids.set(key, (uids.get(key) ?? new Set()).add(uid))
      }
    }
    assert.ok([...uids.values()].some(same => same.size > 1))
  })

  it('leads from every pod to a workload that is there', () => {
    const simulated = cluster({ nodes: 8 })
    for (let hour = 0; hour <= 24; hour++) {
      simulated.advance(START_MS + hour * HOUR_MS)
      const objects = new Map([...simulated.objects()].map(object => [object.metadata.uid, object]))
      for (const object of objects.values()) {
        for (const reference of object.metadata.ownerReferences ?? []) {
          const owner = objects.get(reference.uid)
          assert.ok(owner !== undefined, `${object.kind} ${object.metadata.name} has no ${reference.kind}`)
          assert.deepEqual(
            [owner.apiVersion, owner.kind, owner.metadata.name, owner.metadata.namespace],
            [reference.apiVersion, reference.kind, reference.name, object.metadata.namespace],
          )
        }
      }
    }
  })

  it('gives no device away twice, and every pod what it asked for', () => {
    const simulated = cluster({ nodes: 8 })
    for (let quarter = 0; quarter <= 96; quarter++) {
      simulated.advance(START_MS + quarter * 15 * MINUTE_MS)
      for (const { gpus } of simulated.state.nodes) {
        for (const { devices, replicas } of gpus) {
          for (const { claims } of devices) {
            assert.ok(claims.reduce((sum, { share }) => sum + share, 0) <= 1 + 1e-9)
            const seen = claims.filter(claim => claim.seenByKubelet)
            assert.ok(seen.length <= replicas)
            assert.equal(new Set(seen.map(({ replica }) => replica)).size, seen.length)
          }
        }
      }
      for (const pod of simulated.state.pods) {
        const { request } = pod
        const holds = pod.nodeName !== undefined && !isFinished(pod)
        assert.equal(pod.claims.length, holds ? devicesWanted(request) : 0, `${pod.name} ${pod.phase}`)
        for (const { device } of pod.claims) assert.equal(device.gpu.nodeName, pod.nodeName)
      }
    }
  })

  it('keeps projects within their ResourceQuota', () => {
    const simulated = cluster({ nodes: 8 })
    for (let hour = 0; hour <= 24; hour++) {
      simulated.advance(START_MS + hour * HOUR_MS)
      const used = new Map<string, number>()
      for (const pod of simulated.state.pods) {
        const { request } = pod
        if (isFinished(pod) || (request.kind !== 'whole' && request.kind !== 'time_slicing')) continue
        used.set(pod.namespace, (used.get(pod.namespace) ?? 0) + request.count)
      }
      for (const project of simulated.state.projects) {
        if (project.tenancy !== 'plain') continue
        assert.equal(project.gpusRequested, used.get(project.namespace) ?? 0)
        // A pod that moves is there twice for a moment.
        assert.ok(project.gpusRequested <= 2 * project.gpuQuota + 2)
      }
    }
  })

  it('keeps a large cluster busy without much ado', function () {
    this.timeout(20_000)
    const simulated = cluster({ nodes: 500 })
    simulated.advance(START_MS + 6 * HOUR_MS)
    const boards = simulated.state.nodes.flatMap(({ gpus }) => gpus)
    const held = boards.filter(({ devices }) => devices.some(({ claims }) => claims.length > 0))
    assert.ok(held.length > 0.75 * boards.length, `${held.length} of ${boards.length}`)
  })
})
