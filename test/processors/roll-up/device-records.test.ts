import assert from 'node:assert/strict'
import { seenOf, type Holder, type SeenDevice } from '../../../pipeline/cluster/seen.ts'
import { createModel, type Model } from '../../../processors/roll-up/model.ts'
import { createSource } from '../../support/batch-from-text.ts'
import { containerWith, podNamed, putNode, putPod, removePod } from '../../support/cluster-objects.ts'
import { modelRules } from '../../support/roll-up-cycle.ts'
import { testHost, type TestHost } from '../../support/test-host.ts'

const SOURCE = { ...createSource('http://node-a:9400/metrics'), node: 'node-a' }

function device(id: string, parts: Partial<SeenDevice> = {}): SeenDevice {
  const common = { part: undefined, profile: undefined, index: '0', model: 'NVIDIA A100', host: 'node-a' }
  return { id, ...common, source: SOURCE, holders: [], ...parts }
}

function holder(pod: string | undefined, parts: Partial<Holder> = {}): Holder {
  const none = { container: undefined, podUid: undefined, job: undefined, replicas: undefined }
  return { pod, namespace: pod === undefined ? undefined : 'ns', ...none, ...parts }
}

function instance(part: string, profile: string, pod?: string): SeenDevice {
  return device('GPU-0', { part, profile, holders: pod === undefined ? [] : [holder(pod)] })
}

function modelOf(host: TestHost, devices: readonly SeenDevice[]): Model {
  seenOf(host.cluster).devices(SOURCE, devices)
  const rules = modelRules(host)
  const model = createModel(host.cluster, () => rules, new Set(['workload', 'project']))
  model.refresh()
  return model
}

function withPods(...names: string[]): TestHost {
  const host = testHost()
  putNode(host.cluster, 'node-a', {})
  for (const name of names) putPod(host.cluster, pod(name))
  return host
}

function pod(name: string) {
  return podNamed(name, { node: 'node-a', containers: [containerWith({ 'nvidia.com/gpu': 1 })] })
}

/** `pod share` of all pairs, and `reason gpus` of what is nobody's. */
function shown({ devices }: Model): { pairs: string[]; rests: string[]; boards: string[] } {
  const rounded = (value: number): number => Number(value.toFixed(6))
  return {
    pairs: Array.from(
      devices.pairs.values(),
      ({ holder: its, device: { key }, share }) => `${its.get('pod') ?? its.key} ${key} ${rounded(share)}`,
    ),
    rests: [...devices.rests.values()]
      .filter(({ gpus }) => gpus > 0)
      .map(rest => `${rest.get('reason')} ${rounded(rest.gpus)}`),
    boards: [...devices.boards.keys()],
  }
}

describe('records of devices', () => {
  it('are a pair for a pod that is named, and nobody’s where none is', () => {
    const model = modelOf(withPods('p'), [device('GPU-0', { holders: [holder('p')] }), device('GPU-1')])
    assert.deepEqual(shown(model), { pairs: ['p GPU-0 1'], rests: ['free 1'], boards: ['GPU-0', 'GPU-1'] })
  })

  it('are one pair for a pod that is named twice', () => {
    const holders = [holder('p', { container: 'a' }), holder('p', { container: 'b' })]
    assert.deepEqual(shown(modelOf(withPods('p'), [device('GPU-0', { holders })])).pairs, ['p GPU-0 1'])
  })

  it('are pairs by instance of a board, with slices in no instance that are free', () => {
    const model = modelOf(withPods('p', 'q'), [instance('1', '3g.20gb', 'p'), instance('2', '2g.10gb', 'q')])
    assert.deepEqual(shown(model), {
      pairs: ['p GPU-0/1 1', 'q GPU-0/2 1'],
      rests: ['free 0.285714'],
      boards: ['GPU-0'],
    })
  })

  it('are of the instances where the exporter shows the board beside them', () => {
    const board = device('GPU-0', { holders: [holder('p')] })
    const model = modelOf(withPods('p'), [board, instance('1', '7g.40gb', 'p')])
    assert.deepEqual(shown(model), { pairs: ['p GPU-0/1 1'], rests: [], boards: ['GPU-0'] })
    assert.equal([...model.devices.rests.values()].find(({ beside }) => beside !== undefined)!.device.key, 'GPU-0')
  })

  it('are pairs of jobs, with and without a pod around them', () => {
    const model = modelOf(withPods('slurmd'), [
      device('GPU-0', { holders: [holder('slurmd', { job: '42' })] }),
      device('GPU-1', { index: '1', holders: [holder(undefined, { job: '43' })] }),
    ])
    const jobs = Array.from(model.devices.jobs.values(), ({ get }) => [
      get('workload_id'),
      get('pod'),
      get('workload_type'),
    ])
    assert.deepEqual(jobs, [
      ['42', 'slurmd', 'training'],
      ['43', undefined, 'training'],
    ])
    assert.equal(model.devices.pairs.size, 2)
    assert.deepEqual([...model.workloads.all.keys()].includes('43'), true)
  })

  it('know where a GPU is by its exporter, and its owner by the pod', () => {
    const [pair] = modelOf(withPods('p'), [
      device('GPU-0', { index: '3', holders: [holder('p')] }),
    ]).devices.pairs.values()
    const attributes = ['gpu', 'uuid', 'model', 'node', 'pod', 'namespace'].map(name => pair!.get(name))
    assert.deepEqual(attributes, ['3', 'GPU-0', 'NVIDIA-A100', 'node-a', 'p', 'ns'])
  })

  it('stay the same while nothing changes, and change where it does', () => {
    const host = withPods('p', 'q')
    const devices = [device('GPU-0', { holders: [holder('p')] }), device('GPU-1', { holders: [holder('q')] })]
    const model = modelOf(host, devices)
    const [first, second] = [...model.devices.pairs.values()]
    assert.equal(model.refresh(), false)
    putPod(host.cluster, podNamed('q', { node: 'node-a', labels: { a: 'b' } }))
    assert.equal(model.refresh(), true)
    const [firstNow, secondNow] = [...model.devices.pairs.values()]
    assert.equal(firstNow, first)
    assert.notEqual(secondNow, second)
  })

  it('are nobody’s once the pod is gone', () => {
    const host = withPods('p')
    const model = modelOf(host, [device('GPU-0', { holders: [holder('p')] })])
    removePod(host.cluster, pod('p'))
    model.refresh()
    assert.deepEqual(shown(model), { pairs: [], rests: ['finished pod 1'], boards: ['GPU-0'] })
  })
})
