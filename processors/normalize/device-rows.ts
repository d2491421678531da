/**
 * Finds out which rows of a target speak of one GPU.
 *
 * An exporter may show a GPU on several rows: one for each instance, for each pod or job that shares it, and one for the GPU
 * itself. What tells these rows apart is who holds the GPU: the labels of the holder, and any other that goes with the holder,
 * such as the labels of its pod. A fact of the GPU must not have those, or it would be counted once for each holder.
 */
import type { DeviceLabels } from '../../pipeline/catalog/input-schema.ts'
import { areSameHolders, deviceKey, type Holder, type SeenDevice } from '../../pipeline/cluster/seen.ts'
import type { Source } from '../../pipeline/model/batch.ts'
import { getLabel, labelPairs, type Labels } from '../../pipeline/model/labels.ts'
import { sharedWithLast } from '../../pipeline/model/shared.ts'

/** Of which GPU, and which instance of it, a row speaks. */
export type RowIdentity = { readonly board: string; readonly part: string | undefined; readonly key: string }

/** What was found out, as far as it matters for facts. Devices that need nothing are not in it. */
export type DeviceView = {
  /** Labels that facts of a device must not have, by its key; those of a board, by the board. */
  readonly strip: ReadonlyMap<string, ReadonlySet<string>>
  readonly stripOfBoard: ReadonlyMap<string, ReadonlySet<string>>
  /** `key fact`: rows with a holder are readings of the holder, because the device has one of its own. */
  readonly ownReadings: ReadonlySet<string>
}

export function isEmpty({ strip, stripOfBoard, ownReadings }: DeviceView): boolean {
  return strip.size + stripOfBoard.size + ownReadings.size === 0
}

export function identifyRow(labels: Labels, spec: DeviceLabels): RowIdentity | undefined {
  if (spec.not_devices.some(name => labels.names.includes(name))) return undefined
  const board = boardOf(labels, spec)
  if (board === undefined) return undefined
  const part = valueOf(labels, spec.part)
  return { board, part, key: deviceKey(board, part) }
}

function boardOf(labels: Labels, spec: DeviceLabels): string | undefined {
  for (const name of spec.id) {
    const id = getLabel(labels, name)
    if (id !== undefined) return id
  }
  const host = valueOf(labels, spec.host)
  const index = valueOf(labels, spec.index)
  return host === undefined || index === undefined ? undefined : `${host}/${index}`
}

function valueOf(labels: Labels, name: string | undefined): string | undefined {
  return name === undefined ? undefined : getLabel(labels, name)
}

/** Labels that say who holds a device. */
export function holderLabels(spec: DeviceLabels): readonly string[] {
  const { pod, namespace, container, pod_uid: uid, job, replica, holders } = spec
  return [pod, namespace, container, uid, job, replica, ...holders].filter(name => name !== undefined)
}

/**
 * One who holds a device, or nobody; with the labels that all rows of this holder have in common, where they are not those of the first.
 */
type Group = { readonly labels: Labels; readonly isHeld: boolean; constant: Map<string, string> | undefined }
type Device = {
  readonly board: string
  readonly part: string | undefined
  readonly groups: Map<string, Group>
  /** By fact, whether it has rows with and without a holder. */
  readonly kinds: Map<string, { held: boolean; bare: boolean }>
}

type Row = { readonly device: Device; readonly group: Group }

/** Collects the rows of one target. */
export class DeviceRows {
  readonly #spec: DeviceLabels
  readonly #holderLabels: readonly string[]
  readonly #devices = new Map<string, Device>()
  /** Mostly all readings of a device have one label set. */
  readonly #seen = new Map<Labels, Row>()

  constructor(spec: DeviceLabels) {
    this.#spec = spec
    this.#holderLabels = holderLabels(spec)
  }

  /** A row of a GPU. `fact` is given where a source may have readings of its own for each holder. */
  add(labels: Labels, identity: RowIdentity, fact: string | undefined): void {
    let row = this.#seen.get(labels)
    if (row === undefined) this.#seen.set(labels, (row = this.#addRow(labels, identity)))
    if (fact === undefined) return
    const { device, group } = row
    let kinds = device.kinds.get(fact)
    if (kinds === undefined) device.kinds.set(fact, (kinds = { held: false, bare: false }))
    kinds[group.isHeld ? 'held' : 'bare'] = true
  }

  #addRow(labels: Labels, { board, part, key }: RowIdentity): Row {
    let device = this.#devices.get(key)
    if (device === undefined) {
      this.#devices.set(key, (device = { board, part, groups: new Map(), kinds: new Map() }))
    }
    const values = this.#holderLabels.map(name => getLabel(labels, name) ?? '')
    const holder = values.join('\n')
    let group = device.groups.get(holder)
    if (group !== undefined) retainEqual((group.constant ??= pairsOf(group.labels)), labels)
    else {
      group = { labels, isHeld: values.some(value => value !== ''), constant: undefined }
      device.groups.set(holder, group)
    }
    return { device, group }
  }

  view(): DeviceView {
    const strip = new Map<string, ReadonlySet<string>>()
    const stripOfBoard = new Map<string, ReadonlySet<string>>()
    const ownReadings = new Set<string>()
    for (const [board, devices] of this.#boards()) {
      const isWhole = this.#isWhole(devices)
      const partLabels = [this.#spec.part, this.#spec.profile].filter(name => name !== undefined)
      for (const [key, { groups, kinds }] of devices) {
        const names = varying(groups.values())
        if (isWhole) for (const name of partLabels) names.add(name)
        if (names.size > 0) strip.set(key, names)
        for (const [fact, { held, bare }] of kinds) if (held && bare) ownReadings.add(`${key} ${fact}`)
      }
      const names = varying(devices.values().flatMap(({ groups }) => groups.values()))
      if (devices.values().some(({ part }) => part !== undefined)) {
        for (const name of partLabels) names.add(name)
        if (!isWhole) for (const name of this.#holderLabels) names.add(name)
      }
      if (names.size > 0) stripOfBoard.set(board, names)
    }
    return { strip, stripOfBoard, ownReadings }
  }

  seen(source: Source): SeenDevice[] {
    const spec = this.#spec
    const result: SeenDevice[] = []
    for (const [board, devices] of this.#boards()) {
      const isWhole = this.#isWhole(devices)
      for (const { part, groups } of devices.values()) {
        const [{ labels }] = [...groups.values()] as [Group]
        result.push({
          id: board,
          part: isWhole ? undefined : part,
          profile: isWhole ? undefined : valueOf(labels, spec.profile),
          index: valueOf(labels, spec.index),
          model: valueOf(labels, spec.model),
          host: valueOf(labels, spec.host),
          source,
          holders: holdersOf(groups.values(), spec),
        })
      }
    }
    return result
  }

  #boards(): Map<string, Map<string, Device>> {
    const boards = new Map<string, Map<string, Device>>()
    for (const [key, device] of this.#devices) {
      const devices = boards.get(device.board)
      if (devices === undefined) boards.set(device.board, new Map([[key, device]]))
      else devices.set(key, device)
    }
    return boards
  }

  /** The only part of a board may be the board itself. */
  #isWhole(devices: ReadonlyMap<string, Device>): boolean {
    if (devices.size !== 1) return false
    const [{ part }] = [...devices.values()] as [Device]
    return part !== undefined && this.#spec.whole.includes(part)
  }
}

function pairsOf(labels: Labels): Map<string, string> {
  return new Map(labelPairs(labels))
}

function retainEqual(constant: Map<string, string>, labels: Labels): void {
  for (const [name, value] of constant) if (getLabel(labels, name) !== value) constant.delete(name)
}

/** Labels that go with the group: the same on all its rows, and not the same in all groups. */
function varying(groups: Iterable<Group>): Set<string> {
  const all = [...groups]
  const names = new Set<string>()
  if (all.length < 2) return names
  const constants = all.map(({ labels, constant }) => constant ?? pairsOf(labels))
  for (const constant of constants) {
    for (const [name, value] of constant) {
      if (!constants.every(other => other.get(name) === value)) names.add(name)
    }
  }
  return names
}

/** The GPUs of a pod follow each other. */
const sharedHolders = sharedWithLast(areSameHolders)

/** Each pod or job once: replicas of a shared GPU may name one pod on several rows, and are counted. */
function holdersOf(groups: Iterable<Group>, spec: DeviceLabels): readonly Holder[] {
  const holders = new Map<string, { holder: Omit<Holder, 'replicas'>; replicas: Set<string> }>()
  for (const { labels, isHeld } of groups) {
    if (!isHeld) continue
    const holder = {
      pod: valueOf(labels, spec.pod),
      namespace: valueOf(labels, spec.namespace),
      container: valueOf(labels, spec.container),
      podUid: valueOf(labels, spec.pod_uid),
      job: valueOf(labels, spec.job),
    }
    if (Object.values(holder).every(value => value === undefined)) continue
    const key = JSON.stringify(holder)
    let known = holders.get(key)
    if (known === undefined) holders.set(key, (known = { holder, replicas: new Set() }))
    const replica = valueOf(labels, spec.replica)
    if (replica !== undefined) known.replicas.add(replica)
  }
  // What is added to a copy would lie beside it.
  const found = Array.from(holders.values(), ({ holder: { pod, namespace, container, podUid, job }, replicas }) => ({
    pod,
    namespace,
    container,
    podUid,
    job,
    replicas: replicas.size || undefined,
  }))
  // A list that grew has room for more, which a copy has not: there are as many as GPUs.
  return found.length === 0 ? NOBODY : sharedHolders(found.slice())
}

const NOBODY: readonly Holder[] = []
