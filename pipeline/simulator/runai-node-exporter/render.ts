/**
 * The text of Run:ai's node exporter: what each pod does on a GPU that Run:ai shares between pods, which dcgm-exporter cannot tell.
 *
 * Only fractions of Run:ai's are in it. Pods that have a GPU for themselves are where dcgm-exporter shows them, and MIG and time-slicing are no
 * sharing of Run:ai's.
 */
import { familyText, joinFamilies, type FamilyText } from '../exposition.ts'
import { formatDecimal } from '../go-number.ts'
import { goProcessFamilies } from '../go-process.ts'
import { claimActivity, claimMemoryMiB, type Claim } from '../gpu.ts'
import type { SimulatedNode } from '../node.ts'
import type { GpuRequest } from '../pod.ts'
import { hashText } from '../random.ts'

const OUT_OF_MEMORY = ['burst', 'idle', 'priority', 'swap_out_of_ram']

export function renderRunaiNodeExporter(node: SimulatedNode, timeMs: number, collectIntervalMs: number): string {
  const sampleNumber = Math.floor(timeMs / collectIntervalMs)
  const sampleMs = sampleNumber * collectIntervalMs
  const claims = fractionsOf(node)
  const perPod = (name: string, help: string, value: (claim: Claim) => number): FamilyText[] =>
    family(
      name,
      help,
      claims.map(claim => [
        `gpu="${claim.device.gpu.uuid}",pod_uuid="${claim.pod.uid}"`,
        formatDecimal(value(claim), 0),
      ]),
    )
  const uuids = [...new Set(claims.map(claim => claim.device.gpu.uuid))]
  return joinFamilies([
    ...perPod('runai_pod_gpu_utilization', 'Use of a shared GPU by a pod, in %', claim =>
      Math.round(100 * claim.share * claimActivity(claim, sampleMs, sampleNumber)),
    ),
    ...perPod(
      'runai_pod_gpu_memory_used_bytes',
      'Memory of a shared GPU that a pod uses, in bytes',
      claim => claimMemoryMiB(claim, sampleMs) * 1_048_576,
    ),
    ...perPod(
      'runai_pod_gpu_swap_ram_used_bytes',
      'Memory of the node that a pod uses instead of that of the GPU, in bytes',
      () => 0,
    ),
    ...OUT_OF_MEMORY.flatMap(reason =>
      family(
        `runai_gpu_oomkill_${reason}_count`,
        `Pods that were ended for want of memory of the GPU: ${reason}`,
        uuids.map(uuid => [`gpu="${uuid}"`, '0']),
      ),
    ),
    ...goProcessFamilies(node.createdMs, timeMs, hashText(node.uid, 1)),
  ])
}

/** The library shows nothing of a family without series. */
function family(name: string, help: string, rows: readonly (readonly [labels: string, value: string])[]): FamilyText[] {
  if (rows.length === 0) return []
  const lines = rows.map(([labels, value]) => `${name}{${labels}} ${value}\n`)
  return [familyText(name, 'gauge', help, lines.sort().join(''))]
}

function fractionsOf({ gpus }: SimulatedNode): Claim[] {
  return gpus.flatMap(({ devices }) =>
    devices.flatMap(({ claims }) =>
      claims.filter(({ pod: { request, runningMs } }) => isSharedByRunai(request) && runningMs !== undefined),
    ),
  )
}

function isSharedByRunai(request: GpuRequest): boolean {
  return request.kind === 'fraction' && request.sharedBy === 'runai'
}
