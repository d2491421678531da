/**
 * What sources that arrive as series show of the cluster: devices and who holds them, and Kubernetes objects with the facts that
 * are told about them. `normalize` writes it, for every source it understands; whoever models the cluster reads the two tables.
 *
 * A source that fails keeps what it showed; one that is removed takes it along.
 */
import type { Cluster } from '../component.ts'
import type { Batch, Source } from '../model/batch.ts'
import { BY_NOTHING, indexed } from './indexed.ts'
import { ObjectLearner, type ObjectRuleOf } from './object-learner.ts'
import { addressesOfSeen, marksOfSeen } from './seen-metadata.ts'
import { indexedByName } from './seen-names.ts'
import type { SeenObject } from './seen-object.ts'
import { Views } from './views.ts'

/** Keys are `deviceKey(id, part)`. */
export const SEEN_DEVICES = 'seen_devices'
/** Keys are what names a board that is cut, values the keys of its instances. The key of one that is not is what names it. */
export const SEEN_BOARDS = 'seen_boards'
/** Keys are `objectKey(...)`. */
export const SEEN_OBJECTS = 'seen_objects'
/** Keys are marks, values the keys of pods. */
export const SEEN_MARKS = 'seen_marks'
/** Keys are addresses, values the keys of nodes and pods. */
export const SEEN_ADDRESSES = 'seen_addresses'

/** A GPU, or an instance of one, as an exporter shows it. */
export type SeenDevice = {
  /** What names the board in the whole cluster: its UUID where there is one. */
  readonly id: string
  /** Which instance of the board, where it is cut into such. */
  readonly part: string | undefined
  /** The profile of the instance: `1g.5gb`. */
  readonly profile: string | undefined
  /** The number of the board in its host. */
  readonly index: string | undefined
  readonly model: string | undefined
  /** What the exporter calls its host, which need not be the name of a node. */
  readonly host: string | undefined
  /** The target that shows it. It may know in which node it is. */
  readonly source: Source
  /** Whom its rows name, in order. Nobody is nobody that the exporter knows of. */
  readonly holders: readonly Holder[]
  /** Whether its target, which has named holders of devices, names none of this one. */
  readonly isKnownFree?: boolean
}

export type Holder = {
  readonly pod: string | undefined
  readonly namespace: string | undefined
  readonly container: string | undefined
  readonly podUid: string | undefined
  /** A job of a batch system, such as Slurm. */
  readonly job: string | undefined
  /** How many replicas of a shared device it has; undefined where the exporter does not tell. */
  readonly replicas: number | undefined
}

export type Seen = {
  /** All devices that a source shows now. */
  devices(source: Source, devices: readonly SeenDevice[]): void
  /** What a batch of facts tells about objects, by value. `ruleOf` says of which object a fact speaks. */
  objects(batch: Batch, ruleOf: ObjectRuleOf): void
  /** A source could not be read, or is gone. */
  ended(source: Source, outcome: 'failed' | 'removed'): void
}

export function deviceKey(id: string, part: string | undefined): string {
  return part === undefined ? id : `${id}/${part}`
}

const known = new WeakMap<Cluster, Seen>()

/** The one of this cluster: several processors may write it, and show the same. */
export function seenOf(cluster: Cluster): Seen {
  let seen = known.get(cluster)
  if (seen === undefined) known.set(cluster, (seen = createSeen(cluster)))
  return seen
}

function createSeen(cluster: Cluster): Seen {
  const boards = { table: cluster.table<readonly string[]>(SEEN_BOARDS), by: boardsOf }
  const devices = new Views<SeenDevice>(
    indexed(cluster.table<SeenDevice>(SEEN_DEVICES), [boards]),
    isSameDevice,
    ({ source }) => source,
  )
  const byMarks = { table: cluster.table<readonly string[]>(SEEN_MARKS), by: marksOfSeen }
  const byAddress = { table: cluster.table<readonly string[]>(SEEN_ADDRESSES), by: addressesOfSeen }
  const objects = new Views<SeenObject>(
    indexed(indexedByName(cluster, cluster.table(SEEN_OBJECTS)), [byMarks, byAddress]),
    isSameObject,
    ({ source }) => source,
  )
  const learner = new ObjectLearner({
    put: (source, key, object) => objects.put(source, key, object),
    drop: (source, key) => objects.drop(source, key),
  })
  const naming = new WeakSet<Source>()
  return {
    devices(source, list) {
      if (list.some(({ holders }) => holders.length > 0)) naming.add(source)
      const keys = new Set(list.map(({ id, part }) => deviceKey(id, part)))
      for (const key of devices.keysOf(source)) if (!keys.has(key)) devices.drop(source, key)
      for (const device of list) {
        const isKnownFree = device.holders.length === 0 && naming.has(source)
        devices.put(source, deviceKey(device.id, device.part), isKnownFree ? knownFree(device) : device)
      }
      devices.reached(source, true)
    },
    objects(batch, ruleOf) {
      devices.reached(batch.source, true)
      objects.reached(batch.source, true)
      learner.learn(batch, ruleOf)
    },
    ended(source, outcome) {
      if (outcome === 'failed') {
        devices.reached(source, false)
        objects.reached(source, false)
        return
      }
      learner.forget(source)
      devices.forget(source)
      objects.forget(source)
    },
  }
}

/** One by one: what is spread into an object lies beside it. */
function knownFree({ id, part, profile, index, model, host, source, holders }: SeenDevice): SeenDevice {
  return { id, part, profile, index, model, host, source, holders, isKnownFree: true }
}

function boardsOf({ id, part }: SeenDevice): readonly string[] {
  return part === undefined ? BY_NOTHING : [id]
}

function isSameDevice(a: SeenDevice, b: SeenDevice): boolean {
  return (
    a.id === b.id &&
    a.part === b.part &&
    a.profile === b.profile &&
    a.index === b.index &&
    a.model === b.model &&
    a.host === b.host &&
    a.source.node === b.source.node &&
    a.source.name === b.source.name &&
    a.isKnownFree === b.isKnownFree &&
    areSameHolders(a.holders, b.holders)
  )
}

export function areSameHolders(a: readonly Holder[], b: readonly Holder[]): boolean {
  return a === b || (a.length === b.length && a.every((holder, i) => isSameHolder(holder, b[i]!)))
}

function isSameHolder(a: Holder, b: Holder): boolean {
  return (
    a.pod === b.pod &&
    a.namespace === b.namespace &&
    a.container === b.container &&
    a.podUid === b.podUid &&
    a.job === b.job &&
    a.replicas === b.replicas
  )
}

/** Kind, name and uid are in the key. */
function isSameObject(a: SeenObject, b: SeenObject): boolean {
  return (
    a.facts.length === b.facts.length &&
    a.facts.every(({ name, labels, value }, i) => {
      const other = b.facts[i]!
      return name === other.name && labels === other.labels && Object.is(value, other.value)
    })
  )
}
