/** The kinds of schedulers, of quotas and of claims, and where in the model what is kept of them goes. */
import {
  isSameAdmission,
  isSamePodGroup,
  keepAdmission,
  keepPodGroup,
  podGroupKey,
  type Admission,
  type PodGroup,
} from '../../pipeline/cluster/admissions.ts'
import {
  claimKey,
  isSameClaim,
  isSameSlice,
  keepClaim,
  keepSlice,
  type Claim,
  type Slice,
} from '../../pipeline/cluster/claims.ts'
import {
  isSameQuota,
  keepClusterQueue,
  keepDepartment,
  keepLocalQueue,
  keepProject,
  keepQueue,
  keepResourceQuota,
} from '../../pipeline/cluster/keep-quota.ts'
import { quotaKey, type QuotaObject } from '../../pipeline/cluster/quotas.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { kindText } from '../../pipeline/cluster/workload-kinds.ts'
import type { Tracked } from '../../pipeline/model/tracked.ts'
import type { OptionalKind } from './optional-kinds.ts'

/** What is told of quotas and claims, after the tables have them. */
export type SchedulerObject = QuotaObject | Claim
export type SchedulerChange = (now: SchedulerObject | undefined, before: SchedulerObject | undefined) => void

const QUOTAS: Readonly<Record<string, (object: Parameters<typeof keepQueue>[0]) => QuotaObject>> = {
  'Project.run.ai': keepProject,
  'Department.scheduling.run.ai': keepDepartment,
  'Queue.scheduling.run.ai': keepQueue,
  'ClusterQueue.kueue.x-k8s.io': keepClusterQueue,
  'LocalQueue.kueue.x-k8s.io': keepLocalQueue,
  'ResourceQuota.': keepResourceQuota,
}

/** As `Kind.group`, for the rules that whoever reads them needs. */
export const SCHEDULER_KINDS = {
  cluster: [
    'Project.run.ai',
    'Department.scheduling.run.ai',
    'Queue.scheduling.run.ai',
    'ClusterQueue.kueue.x-k8s.io',
    'ResourceSlice.resource.k8s.io',
  ],
  namespaced: [
    'ResourceQuota.',
    'PodGroup.scheduling.run.ai',
    'LocalQueue.kueue.x-k8s.io',
    'Workload.kueue.x-k8s.io',
    'ResourceClaim.resource.k8s.io',
  ],
} as const

export function schedulerKinds(tables: ClusterTables, told: SchedulerChange): readonly OptionalKind<unknown>[] {
  const quotaOf = ({ origin, namespace, name }: QuotaObject): string => quotaKey(origin, namespace, name)
  const claimOf = ({ namespace, name }: Claim): string => claimKey(namespace, name)
  const groupOf = ({ namespace, name }: PodGroup): string => podGroupKey(namespace, name)

  function row<T>(name: string, kept: Pick<OptionalKind<T>, 'keep' | 'isSame' | 'change'>): OptionalKind<unknown> {
    const [kind, group] = splitKind(name)
    const key = kindText({ kind, group })
    function isThere(there: boolean): void {
      // Of two that follow each other at a reload, the second begins before the first ends.
      const readers = (tables.readKinds.get(key) ?? 0) + (there ? 1 : -1)
      if (readers > 0) tables.readKinds.set(key, readers)
      else tables.readKinds.delete(key)
    }
    return { group, kind, ...kept, isThere } as OptionalKind<unknown>
  }

  return [
    ...Object.entries(QUOTAS).map(([name, keep]) =>
      row<QuotaObject>(name, { keep, isSame: isSameQuota, change: both(intoTable(tables.quotas, quotaOf), told) }),
    ),
    row<PodGroup>('PodGroup.scheduling.run.ai', {
      keep: keepPodGroup,
      isSame: isSamePodGroup,
      change: intoTable(tables.podGroups, groupOf),
    }),
    row<Admission>('Workload.kueue.x-k8s.io', {
      keep: keepAdmission,
      isSame: isSameAdmission,
      change: intoTable(tables.admissions, ({ jobUid }) => jobUid),
    }),
    row<Claim>('ResourceClaim.resource.k8s.io', {
      keep: keepClaim,
      isSame: isSameClaim,
      change: both(intoTable(tables.claims, claimOf), told),
    }),
    row<Slice>('ResourceSlice.resource.k8s.io', {
      keep: keepSlice,
      isSame: isSameSlice,
      change: (now, before) => changeSlice(tables, now, before),
    }),
  ]
}

type Change<T> = (now: T | undefined, before: T | undefined) => void

function both<T>(first: Change<T>, second: Change<T>): Change<T> {
  return (now, before) => {
    first(now, before)
    second(now, before)
  }
}

/** Takes out only what it has put in. */
function intoTable<T>(table: Tracked<T>, keyOf: (value: T) => string): Change<T> {
  return (now, before) => {
    if (before !== undefined && (now === undefined || keyOf(now) !== keyOf(before))) {
      if (table.get(keyOf(before)) === before) table.delete(keyOf(before))
    }
    if (now !== undefined) table.set(keyOf(now), now)
  }
}

/** A device that moves from one slice to another may be told twice for a moment. */
function changeSlice({ publishedDevices }: ClusterTables, now: Slice | undefined, before: Slice | undefined): void {
  for (const [key, device] of before?.devices ?? []) {
    if (now?.devices.has(key) === true) continue
    if (publishedDevices.get(key) === device) publishedDevices.delete(key)
  }
  for (const [key, device] of now?.devices ?? []) publishedDevices.set(key, device)
}

function splitKind(name: string): [kind: string, group: string] {
  const dot = name.indexOf('.')
  return [name.slice(0, dot), name.slice(dot + 1)]
}
