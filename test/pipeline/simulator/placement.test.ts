import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MIG_PROFILES, type Sharing } from '../../../pipeline/simulator/hardware.ts'
import { makeNode } from '../../../pipeline/simulator/node.ts'
import { Placement, type Place } from '../../../pipeline/simulator/placement.ts'
import type { GpuRequest } from '../../../pipeline/simulator/pod.ts'

const EVERY_WAY: ReadonlySet<Sharing> = new Set(['whole', 'mig', 'time_slicing'])

/** Two nodes with whole GPUs, one with MIG, one with time-slicing. */
function placement(): Placement {
  return new Placement([0, 1, 2, 3].map(index => makeNode(index, 8, 1, 0, EVERY_WAY)))
}

function loads(placed: Placement): (number | undefined)[] {
  return [placed.load('whole'), placed.load('mig'), placed.load('time_slicing')]
}

function devicesOf(places: readonly Place[]): string[] {
  return places.flatMap(({ devices }) =>
    devices.map(({ device, replica }) => `${device.gpu.uuid} ${device.mig?.uuid ?? ''} ${replica ?? ''}`),
  )
}

const request = fc.oneof(
  fc.record({ kind: fc.constant('whole' as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ kind: fc.constant('time_slicing' as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('mig' as const), profile: fc.constantFrom(...MIG_PROFILES) }),
  fc.record({ kind: fc.constant('fraction' as const), fraction: fc.constantFrom(0.2, 0.25, 0.5) }),
  fc.record({ kind: fc.constant('none' as const) }),
)

describe('placement', () => {
  it('gives the GPUs of one node to a pod, from the node where they fit most tightly', () => {
    const placed = placement()
    const [first] = placed.take([{ kind: 'whole', count: 3 }])!
    assert.deepEqual(new Set(first!.devices.map(({ device }) => device.gpu.nodeName)), new Set([first!.node.name]))
    const [second] = placed.take([{ kind: 'whole', count: 2 }])!
    assert.equal(second!.node, first!.node)
    const [large] = placed.take([{ kind: 'whole', count: 8 }])!
    assert.notEqual(large!.node, first!.node)
  })

  it('gives all or nothing to pods that belong together', () => {
    const placed = placement()
    const eight: GpuRequest = { kind: 'whole', count: 8 }
    assert.equal(placed.take([eight, eight, eight]), undefined)
    assert.deepEqual(loads(placed), [0, 0, 0])
    assert.equal(placed.take([eight, eight])!.length, 2)
  })

  it('puts fractions together on one GPU until it is full', () => {
    const placed = placement()
    const half: GpuRequest = { kind: 'fraction', fraction: 0.5 }
    const places = placed.take([half, half, half])!
    assert.equal(places[0]!.group, places[1]!.group)
    assert.notEqual(places[2]!.group, places[0]!.group)
    assert.equal(placed.give(half, places[0]!), undefined)
    assert.equal(placed.give(half, places[1]!), places[0]!.group, 'the last one gives the GPU back')
  })

  it('spreads the replicas of one pod over GPUs of one node', () => {
    const [place] = placement().take([{ kind: 'time_slicing', count: 3 }])!
    assert.equal(new Set(place!.devices.map(({ device }) => device.gpu.uuid)).size, 3)
    assert.equal(new Set(place!.devices.map(({ device }) => device.gpu.nodeName)).size, 1)
  })

  it('never gives anything twice, and has everything again when all is given back', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(request, { minLength: 1, maxLength: 3 }), fc.boolean())), steps => {
        const placed = placement()
        let held: { requests: GpuRequest[]; places: Place[] }[] = []
        for (const [requests, giveBack] of steps) {
          const places = placed.take(requests)
          if (places !== undefined) held.push({ requests, places })
          const exclusive = held.flatMap(({ places }) => devicesOf(places.filter(place => place.group === undefined)))
          assert.equal(new Set(exclusive).size, exclusive.length)
          const oldest = giveBack ? held.shift() : undefined
          for (const [at, place] of oldest?.places.entries() ?? []) placed.give(oldest!.requests[at]!, place)
        }
        for (const { requests, places } of held)
          for (const [at, place] of places.entries()) placed.give(requests[at]!, place)
        held = []
        assert.deepEqual(loads(placed), [0, 0, 0])
      }),
      { numRuns: 50 },
    )
  })
})
