import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { KubernetesApiFaults } from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import { pod } from '../simulator/kubernetes-api/test-api.ts'
import { testCluster, watchPods, type TestCluster } from './test-cluster.ts'

type Step =
  | { readonly do: 'change'; readonly name: string; readonly phase: string }
  | { readonly do: 'delete' | 'replace'; readonly name: string }
  | { readonly do: 'fault'; readonly fault: KubernetesApiFaults }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'compact' }

const NAMES = ['a', 'b', 'c', 'd', 'e']
const FAULTS: readonly KubernetesApiFaults[] = [
  {},
  { watches: 'drop' },
  { watches: 'hang' },
  { watches: 'expire' },
  { truncate: true },
  { errorStatus: 500 },
  { errorStatus: 503 },
  { errorStatus: 429 },
  { delayMs: 3000 },
]

const name = fc.constantFrom(...NAMES)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('change' as const), name, phase: fc.constantFrom('Pending', 'Running', 'Failed') }),
  fc.record({ do: fc.constantFrom('delete' as const, 'replace' as const), name }),
  fc.record({ do: fc.constant('fault' as const), fault: fc.constantFrom(...FAULTS) }),
  fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(0, 1, 5, 30, 120) }),
  fc.record({ do: fc.constant('compact' as const) }),
)

async function take({ store, api, clock }: TestCluster, one: Step, uids: () => string): Promise<void> {
  switch (one.do) {
    case 'change':
      return store.apply([{ type: 'MODIFIED', object: pod(one.name, { phase: one.phase }) }])
    case 'delete':
      return store.apply([{ type: 'DELETED', object: pod(one.name) }])
    case 'replace':
      return store.apply([{ type: 'ADDED', object: pod(one.name, { uid: uids() }) }])
    case 'fault':
      return api.setFaults(one.fault)
    case 'compact':
      return store.compact()
    case 'wait':
      await clock.advance(one.seconds * 1000)
  }
}

describe('a watch, whatever an API server does,', () => {
  for (const streamingLists of [false, true]) {
    it(`is right within 30 s of the server being well, ${streamingLists ? 'with' : 'without'} streaming lists`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async steps => {
          const cluster = testCluster([pod('a'), pod('b')], { streamingLists })
          const { clock, store, api, client } = cluster
          const { watch, told } = watchPods(client)
          let made = 0
          for (const one of steps) await take(cluster, one, () => `uid ${++made}`)
          api.setFaults({})
          await clock.advance(30_000)

          const there = Array.from(store.collection('', 'Pod').objects(), ({ metadata, status }) =>
            describePod(metadata, (status as { phase?: string }).phase),
          )
          const known = Array.from(watch.values(), ({ phase, ...metadata }) => describePod(metadata, phase))
          assert.deepEqual(known.toSorted(), there.toSorted())
          const wrong = told().filter(what => !/^([-+]\w|~\w \w*>\w*|synced)$/.test(what))
          assert.deepEqual(wrong, [])
          watch.stop()
        }),
        { numRuns: 100 },
      )
    })
  }
})

function describePod({ name: itsName, uid }: { name: string; uid: string }, phase = ''): string {
  return `${itsName} ${uid} ${phase}`
}
