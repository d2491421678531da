/** What GPUs are called where pods ask for them and nodes offer them, and how large a part of a board an instance is. */
import { metricSpelling } from './look-up.ts'

/** Each piece of these is a device of its own to those who schedule: a board, an instance of one, or a replica of a shared one. */
const RESOURCES = [
  'nvidia.com/gpu',
  'nvidia.com/gpu.shared',
  'amd.com/gpu',
  'gpu.intel.com/i915',
  'gpu.intel.com/xe',
  'habana.ai/gaudi',
]

const MIG = /^nvidia\.com\/mig-(\d+g\..+?)(?:\.shared)?$/
const MIG_IN_METRICS = /^nvidia_com_mig_(\d+g)_(.+)$/

const ordinary: ReadonlySet<string> = new Set(RESOURCES)
const byMetricSpelling = new Map([...RESOURCES, 'ephemeral-storage'].map(name => [metricSpelling(name), name]))

export function isGpuResource(name: string): boolean {
  return ordinary.has(name)
}

/** `1g.5gb` of `nvidia.com/mig-1g.5gb`; undefined for everything else. */
export function migProfile(resource: string): string | undefined {
  return MIG.exec(resource)?.[1]
}

/** kube-state-metrics writes `_` for every mark: `nvidia_com_mig_1g_5gb`. For names that matter here only one reading makes sense. */
export function resourceName(text: string): string {
  const found = MIG_IN_METRICS.exec(text)
  if (found !== null) return `nvidia.com/mig-${found[1]}.${found[2]!.replaceAll('_', '.')}`
  return byMetricSpelling.get(text) ?? text
}

/** How many slices boards have that have not as many as most, by a part of the name of their model. */
const BOARD_SLICES: readonly (readonly [model: RegExp, slices: number])[] = [
  [/\bA30X?\b/i, 4],
  [/RTX[ -]PRO[ -]6000/i, 4],
]
const MOST_BOARDS = 7

/** Partitions of AMD boards, by what a board is cut into. */
const PARTITIONS: Readonly<Record<string, number | undefined>> = { spx: 1, dpx: 2, tpx: 3, qpx: 4, cpx: 8 }

function slicesOfBoard(model: string | undefined): number {
  return BOARD_SLICES.find(([name]) => name.test(model ?? ''))?.[1] ?? MOST_BOARDS
}

/** `3g.20gb` has 3 slices; undefined if it is no such profile. */
export function slicesOfProfile(profile: string): number | undefined {
  const found = /^(\d+)g\b/.exec(profile)
  return found === null ? undefined : Number(found[1])
}

/** What an instance is of its board. One of an unknown profile is the smallest that there is. */
export function partOfBoard(profile: string | undefined, model: string | undefined): number {
  const partitions = PARTITIONS[profile?.toLowerCase() ?? '']
  if (partitions !== undefined) return 1 / partitions
  const slices = profile === undefined ? undefined : slicesOfProfile(profile)
  return slices === undefined ? 1 / MOST_BOARDS : Math.min(1, slices / slicesOfBoard(model))
}
