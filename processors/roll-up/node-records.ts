/** Nodes, also those of which only an exporter tells. */
import { isGpuResource } from '../../pipeline/cluster/gpu-resources.ts'
import type { SeenTables } from '../../pipeline/cluster/find-pod.ts'
import { liveNodes } from '../../pipeline/cluster/live-pods.ts'
import { inAnySpelling, lookUpOrNothing, type LookUp } from '../../pipeline/cluster/look-up.ts'
import type { Node } from '../../pipeline/cluster/objects.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import type { BoardRecord } from './device-records.ts'
import { entityFrom, type Entity } from './entity.ts'

export type NodeRecord = Entity & {
  readonly name: string
  readonly node: Node | undefined
  /** How many GPUs it is known to have; NaN if that is none, or not known. */
  readonly gpus: number
  /** What the exporter calls its GPUs. */
  readonly model: string | undefined
}

const gpuCount = inAnySpelling('nvidia.com/gpu.count')
const gpuProduct = inAnySpelling('nvidia.com/gpu.product')

export class NodeRecords {
  #records = new Map<string, NodeRecord>()
  readonly #clusterId: string
  readonly #nodepool: readonly LookUp[]

  constructor(clusterId: string, nodepool: readonly LookUp[]) {
    this.#clusterId = clusterId
    this.#nodepool = nodepool.filter(({ object }) => object === 'node')
  }

  get all(): ReadonlyMap<string, NodeRecord> {
    return this.#records
  }

  /** A node that nobody has told about is a name. */
  of(name: string): NodeRecord | undefined {
    if (name === '') return undefined
    let record = this.#records.get(name)
    if (record === undefined) this.#records.set(name, (record = this.#recordOf(name, undefined, undefined)))
    return record
  }

  refresh(tables: ClusterTables, seen: SeenTables, boards: Iterable<BoardRecord>): void {
    const models = new Map<string, string | undefined>()
    for (const board of boards) if (!models.has(board.node)) models.set(board.node, board.get('model'))
    const next = new Map<string, NodeRecord>()
    for (const node of liveNodes(tables, seen)) next.set(node.name, this.#take(node.name, node, models.get(node.name)))
    for (const [name, model] of models)
      if (name !== '' && !next.has(name)) next.set(name, this.#take(name, undefined, model))
    this.#records = next
  }

  #take(name: string, node: Node | undefined, model: string | undefined): NodeRecord {
    const known = this.#records.get(name)
    return known !== undefined && known.node === node && known.model === model
      ? known
      : this.#recordOf(name, node, model)
  }

  #recordOf(name: string, node: Node | undefined, model: string | undefined): NodeRecord {
    const attributes: Readonly<Record<string, string | undefined>> = {
      cluster: this.#clusterId,
      node: name,
      nodepool: node && this.#poolOf(node),
      model: (node && gpuProduct(node.labels)) ?? model,
      ready: String(node?.conditions.get('Ready') === 'True'),
      schedulable: String(node?.schedulable ?? true),
    }
    const around = { pod: undefined, owner: undefined, namespace: undefined, node }
    const get = (attribute: string): string | undefined =>
      attributes[attribute] ?? (node && lookUpOrNothing(attribute)?.find(around))
    return { ...entityFrom(get), name, node, gpus: node ? gpusOf(node) : NaN, model }
  }

  #poolOf(node: Node): string | undefined {
    for (const { find } of this.#nodepool) {
      const pool = find({ pod: node, owner: undefined, namespace: undefined, node })
      if (pool !== undefined) return pool
    }
    return undefined
  }
}

/** What it is labelled with; else what it offers, whatever the vendor. */
function gpusOf(node: Node): number {
  const labelled = gpuCount(node.labels)
  if (labelled !== undefined && labelled !== '' && Number(labelled) > 0) return Number(labelled)
  let sum = 0
  for (const [resource, amount] of node.capacity) if (isGpuResource(resource)) sum += amount
  return sum > 0 ? sum : NaN
}
