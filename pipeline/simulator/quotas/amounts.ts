/** How much of what: requests of pods, and sums of them. */
import { gpuResources } from '../objects/pod.ts'
import { shareOf, type Pod } from '../pod.ts'

/** By resource: CPUs in thousandths, memory in MiB, devices in thousandths. Whole numbers add up exactly. */
export type Amounts = Readonly<Record<string, number>>

export const NOTHING: Amounts = {}

/** What a pod asks for. A part of a GPU that is told by memory is known for a GPU with so much of it. */
export function amountsOf(pod: Pod, gpuMemoryMiB?: number): Amounts {
  const devices = Object.entries(gpuResources(pod)).map(([name, count]) => [name, 1000 * Number(count)] as const)
  return {
    ...(pod.cpuMillis > 0 && { cpu: pod.cpuMillis }),
    ...(pod.memoryMiB > 0 && { memory: pod.memoryMiB }),
    ...Object.fromEntries(devices),
    ...fractionOf(pod, gpuMemoryMiB),
  }
}

function fractionOf({ request }: Pod, gpuMemoryMiB: number | undefined): Amounts {
  if (request.kind !== 'fraction') return NOTHING
  if (gpuMemoryMiB === undefined && 'memoryMiB' in request.part) return NOTHING
  return { 'nvidia.com/gpu': Math.round(1000 * request.devices * shareOf(request, gpuMemoryMiB ?? 1)) }
}

export function addTo(sum: Record<string, number>, amounts: Amounts, sign: 1 | -1): void {
  for (const [name, amount] of Object.entries(amounts)) sum[name] = (sum[name] ?? 0) + sign * amount
}

export function isSame(one: Amounts, other: Amounts): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every(name => one[name] === other[name])
}

/** As the API writes them, by name; what is nothing is left out. */
export function quantities(amounts: Amounts): Record<string, string> {
  const used = Object.entries(amounts).filter(([, amount]) => amount !== 0)
  return Object.fromEntries(
    used.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, amount]) => [name, quantity(name, amount)]),
  )
}

export function quantity(name: string, amount: number): string {
  if (name === 'memory') return `${amount}Mi`
  return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`
}
