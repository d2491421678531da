import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MIG_PROFILES, type Sharing } from '../../../pipeline/simulator/hardware.ts'
import { makeNode } from '../../../pipeline/simulator/node.ts'
import { Placement, type Place } from '../../../pipeline/simulator/placement.ts'
import type { FractionRequest, GpuRequest, Sharer } from '../../../pipeline/simulator/pod.ts'

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
  fc.record({
    kind: fc.constant('fraction' as const),
    sharedBy: fc.constantFrom<Sharer>('runai', 'kai'),
    devices: fc.integer({ min: 1, max: 3 }),
    part: fc.oneof(
      fc.record({ fraction: fc.constantFrom(0.2, 0.25, 0.5) }),
      fc.record({ memoryMiB: fc.constantFrom(8192, 20_000) }),
    ),
  }),
  fc.record({ kind: fc.constant('none' as const) }),
)

function fraction(part: FractionRequest['part'], devices = 1, sharedBy: Sharer = 'runai'): GpuRequest {
  return { kind: 'fraction', sharedBy, devices, part }
}

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
    const half = fraction({ fraction: 0.5 })
    const places = placed.take([half, half, half])!
    assert.equal(places[0]!.groups[0], places[1]!.groups[0])
    assert.notEqual(places[2]!.groups[0], places[0]!.groups[0])
    assert.deepEqual(placed.give(half, places[0]!), [])
    assert.deepEqual(placed.give(half, places[1]!), places[0]!.groups, 'the last one gives the GPU back')
  })

  it('shares no GPU between two schedulers', () => {
    const places = placement().take([fraction({ fraction: 0.5 }), fraction({ fraction: 0.5 }, 1, 'kai')])!
    assert.notEqual(places[0]!.groups[0]!.device, places[1]!.groups[0]!.device)
  })

  it('gives parts of several GPUs of one node, of shared ones first', () => {
    const places = placement().take([fraction({ fraction: 0.5 }), fraction({ fraction: 0.25 }, 2)])!
    const [first, second] = places[1]!.groups
    assert.equal(first, places[0]!.groups[0])
    assert.equal(first!.node, second!.node)
    assert.notEqual(first!.device, second!.device)
    assert.deepEqual([first!.freeHundredths, second!.freeHundredths], [25, 75])
  })

  it('makes of memory the part that it is of the GPU, and never gives away more than there is', () => {
    const placed = placement()
    const places = placed.take(Array.from({ length: 5 }, () => fraction({ memoryMiB: 20_000 })))!
    const { device } = places[0]!.groups[0]!
    assert.equal(places[0]!.devices[0]!.share, 20_000 / device.memoryMiB)
    assert.equal(places.filter(({ groups }) => groups[0]!.device === device).length, 4)
  })

  it('leaves closed nodes alone until they are open again', () => {
    const nodes = [0, 1, 2, 3].map(index => makeNode(index, 8, 1, 0, EVERY_WAY))
    const placed = new Placement(nodes)
    const requests: GpuRequest[] = [
      { kind: 'none' },
      { kind: 'whole', count: 1 },
      { kind: 'time_slicing', count: 1 },
      { kind: 'mig', profile: MIG_PROFILES[0]! },
      fraction({ fraction: 0.5 }),
    ]
    for (const node of nodes) placed.close(node)
    for (const request of requests) assert.equal(placed.take([request]), undefined)
    for (const node of nodes) placed.open(node)
    for (const request of requests) assert.equal(placed.take([request])!.length, 1)
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
          const exclusive = held.flatMap(({ places }) => devicesOf(places.filter(({ groups }) => groups.length === 0)))
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
