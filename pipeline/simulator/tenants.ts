/** Who uses the cluster: departments, their projects, the people, and what each project may have. */
import { createRandom, hashText, uuidOf } from './random.ts'

/** Who hands out the GPUs of a project: Run:ai, KAI, Kueue, or Kubernetes alone with a ResourceQuota. */
export type Tenancy = 'runai' | 'kai' | 'kueue' | 'plain'

export type Project = {
  readonly name: string
  readonly department: string
  readonly tenancy: Tenancy
  readonly namespace: string
  readonly users: readonly string[]
  /** GPUs that are the project's own; it may borrow more. */
  readonly gpuQuota: number
  /** In the order of projects. */
  readonly number: number
  /** Of the object that shows its quota: a ResourceQuota, or Run:ai's Project. */
  readonly objectUid: string
  readonly createdMs: number
  version: number
  /** GPUs requested by pods that are not finished, as a ResourceQuota counts them. */
  gpusRequested: number
  podCount: number
}

/** Above projects of Run:ai. */
export type Department = {
  readonly name: string
  readonly uid: string
  readonly createdMs: number
  version: number
}

const NAMES = [
  'vision',
  'language',
  'speech',
  'robotics',
  'recommendation',
  'weather',
  'genomics',
  'search',
  'fraud',
  'simulation',
  'ranking',
  'translation',
]
const DEPARTMENTS = ['research', 'product', 'science']
const PEOPLE = [
  'ana',
  'bo',
  'chen',
  'dina',
  'emre',
  'fatou',
  'goran',
  'hana',
  'ivo',
  'jun',
  'kofi',
  'lena',
  'mila',
  'noor',
]
const TENANCIES: readonly Tenancy[] = ['runai', 'plain', 'kueue', 'runai', 'kai', 'plain', 'kueue', 'runai']
const DAY_MS = 86_400_000

/** Larger clusters have more projects, but not as many more as they have GPUs. */
export function makeProjects(gpuCount: number, seed: number, startMs: number): Project[] {
  const count = Math.min(48, Math.max(8, Math.round(gpuCount / 160)))
  const own = hashText('tenants', seed)
  const random = createRandom(own)
  const projects: Project[] = []
  for (let at = 0; at < count; at++) {
    const round = Math.floor(at / NAMES.length)
    const name = NAMES[at % NAMES.length]! + (round === 0 ? '' : `-${round + 1}`)
    const tenancy = TENANCIES[at % TENANCIES.length]!
    projects.push({
      name,
      department: DEPARTMENTS[Math.floor(at / 2) % DEPARTMENTS.length]!,
      tenancy,
      namespace: tenancy === 'runai' ? `runai-${name}` : `team-${name}`,
      users: Array.from({ length: 2 + random.below(4) }, () => `${random.pick(PEOPLE)}@example.com`),
      gpuQuota: Math.max(1, Math.round((gpuCount / count) * random.between(0.5, 1.3))),
      number: at,
      objectUid: uuidOf(own, at),
      createdMs: startMs - (30 + random.below(300)) * DAY_MS,
      version: 0,
      gpusRequested: 0,
      podCount: 0,
    })
  }
  return projects
}

export function makeDepartments(projects: readonly Project[], seed: number): Department[] {
  const own = hashText('departments', seed)
  const tenants = projects.filter(({ tenancy }) => tenancy === 'runai')
  const groups = [...Map.groupBy(tenants, project => project.department)]
  return groups.map(([name, members], at) => ({
    name,
    uid: uuidOf(own, at),
    createdMs: Math.min(...members.map(({ createdMs }) => createdMs)),
    version: 0,
  }))
}

/** What the ResourceQuota of a project allows; there is one where nobody else sees to it. */
export function hardQuota(project: Project): number {
  return 2 * project.gpuQuota
}
