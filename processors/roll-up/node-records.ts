/** Nodes, also those of which only an exporter tells. */
import { isGpuResource } from '../../pipeline/cluster/gpu-resources.ts'
import type { SeenTables } from '../../pipeline/cluster/find-pod.ts'
import { liveNodes } from '../../pipeline/cluster/live-pods.ts'
import { inAnySpelling, lookUpOrNothing, type LookUp } from '../../pipeline/cluster/look-up.ts'
import type { Node } from '../../pipeline/cluster/objects.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { BoardRecord } from './board-records.ts'
import { NO_GROUPS, type Entity } from './entity.ts'
import { Attendance, Roster } from './roster.ts'

export type NodeRecord = Entity & {
  readonly key: string
  readonly name: string
  readonly node: Node | undefined
  /** How many GPUs it is known to have; NaN if that is none, or not known. */
  readonly gpus: number
  /** What the exporter calls its GPUs. */
  readonly model: string | undefined
  /** Whether an exporter shows GPUs of it. */
  readonly hasBoards: boolean
}

const gpuCount = inAnySpelling('nvidia.com/gpu.count')
const gpuProduct = inAnySpelling('nvidia.com/gpu.product')

export class NodeRecords {
  readonly all = new Roster<NodeRecord>(({ name }) => name)
  readonly #clusterId: string
  #nodepool: readonly LookUp[] = []
  #isOutdated = false
  readonly #attendance = new Attendance()
  /** Nodes that nobody has told about. */
  readonly #named = new Map<string, NodeRecord>()
  /** By node that has boards. */
  #models = new Map<string, string | undefined>()

  constructor(clusterId: string) {
    this.#clusterId = clusterId
  }

  /** How the pool of a node is found, from the next refresh on. */
  findPoolsBy(lookUps: readonly LookUp[]): void {
    this.#nodepool = lookUps.filter(({ object }) => object === 'node')
    this.#isOutdated = true
  }

  /** A node that nobody has told about is a name. */
  of(name: string): NodeRecord | undefined {
    if (name === '') return undefined
    let record = this.all.get(name) ?? this.#named.get(name)
    if (record === undefined) this.#named.set(name, (record = this.#recordOf(name, undefined)))
    return record
  }

  refresh(tables: ClusterTables, seen: SeenTables, boards: Roster<BoardRecord>): void {
    if (boards.changed.size > 0) this.#models = modelsOf(boards)
    this.#attendance.begin()
    for (const node of liveNodes(tables, seen)) this.#take(node.name, node)
    for (const name of this.#models.keys()) if (name !== '' && !this.#isTold(name)) this.#take(name, undefined)
    for (const key of this.#attendance.missing(this.all)) this.all.delete(key)
    this.#isOutdated = false
  }

  #isTold(name: string): boolean {
    const place = this.all.placeOf(name)
    return place >= 0 && this.#attendance.has(place)
  }

  #take(name: string, node: Node | undefined): void {
    const known = this.all.get(name)
    const isKnown = known !== undefined && !this.#isOutdated && tellSame(known.node, node)
    const isSame = isKnown && known.model === this.#models.get(name) && known.hasBoards === this.#models.has(name)
    this.#attendance.mark(this.all.put(name, isSame ? known : this.#recordOf(name, node)))
  }

  #recordOf(name: string, node: Node | undefined): NodeRecord {
    return new NodeEntity({
      name,
      node,
      clusterId: this.#clusterId,
      nodepool: node && this.#poolOf(node),
      gpus: node ? gpusOf(node) : NaN,
      model: this.#models.get(name),
      hasBoards: this.#models.has(name),
    })
  }

  #poolOf(node: Node): string | undefined {
    for (const { find } of this.#nodepool) {
      const pool = find({ pod: node, owner: undefined, namespace: undefined, node })
      if (pool !== undefined) return pool
    }
    return undefined
  }
}

type NodeParts = Omit<NodeRecord, keyof Entity | 'key'> & {
  readonly clusterId: string
  readonly nodepool: string | undefined
}

class NodeEntity implements NodeRecord {
  groups = NO_GROUPS
  readonly name: string
  readonly node: Node | undefined
  readonly gpus: number
  readonly model: string | undefined
  readonly hasBoards: boolean
  readonly #clusterId: string
  readonly #nodepool: string | undefined

  constructor({ name, node, gpus, model, hasBoards, clusterId, nodepool }: NodeParts) {
    this.name = name
    this.node = node
    this.gpus = gpus
    this.model = model
    this.hasBoards = hasBoards
    this.#clusterId = clusterId
    this.#nodepool = nodepool
  }

  get key(): string {
    return this.name
  }

  get(attribute: string): string | undefined {
    const { node } = this
    switch (attribute) {
      case 'cluster':
        return this.#clusterId
      case 'node':
        return this.name
      case 'nodepool':
        return this.#nodepool
      case 'model':
        return (node && gpuProduct(node.labels)) ?? this.model
      case 'ready':
        return String(node?.conditions.get('Ready') === 'True')
      case 'schedulable':
        return String(node?.schedulable ?? true)
      default:
        return (
          node && lookUpOrNothing(attribute)?.find({ pod: undefined, owner: undefined, namespace: undefined, node })
        )
    }
  }
}

/** Boards of one node follow each other, so most need no look-up. */
function modelsOf(boards: Roster<BoardRecord>): Map<string, string | undefined> {
  const models = new Map<string, string | undefined>()
  let last: string | undefined
  for (const board of boards.list) {
    if (board === undefined || board.node === last) continue
    last = board.node
    if (!models.has(last)) models.set(last, board.get('model'))
  }
  return models
}

/** Nodes are told again every few minutes, mostly with nothing new that matters here. */
function tellSame(one: Node | undefined, other: Node | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return (
    one === other ||
    (one.labels === other.labels &&
      one.annotations === other.annotations &&
      one.schedulable === other.schedulable &&
      one.conditions.get('Ready') === other.conditions.get('Ready') &&
      Object.is(gpusOf(one), gpusOf(other)))
  )
}

/** What it is labelled with; else what it offers, whatever the vendor. */
function gpusOf(node: Node): number {
  const labelled = gpuCount(node.labels)
  if (labelled !== undefined && labelled !== '' && Number(labelled) > 0) return Number(labelled)
  let sum = 0
  for (const [resource, amount] of node.capacity) if (isGpuResource(resource)) sum += amount
  return sum > 0 ? sum : NaN
}
