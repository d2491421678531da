/** What projects and queues may use, as contributors. */
import type { PodReader, SeenTables } from '../../pipeline/cluster/find-pod.ts'
import type { IdentityRules } from '../../pipeline/cluster/identity.ts'
import { projectOfNamespace } from '../../pipeline/cluster/namespace-project.ts'
import { quotaRows } from '../../pipeline/cluster/quota-reader.ts'
import { effectiveQuotas, type Quota, type QuotaAmounts } from '../../pipeline/cluster/quotas.ts'
import type { ClusterTables } from '../../pipeline/cluster/tables.ts'
import { entityFrom, type Entity } from './entity.ts'
import { Roster } from './roster.ts'

/** How no limit is shown. */
export type Unlimited = 'inf' | '-1' | 'omit'

export type QuotaRecord = Entity & {
  /** Its number among those of its kind. */
  readonly key: string
  /** All that it says, to see whether that has changed. */
  readonly text: string
  /** NaN where nothing is told. */
  readonly quantities: Readonly<Record<'gpus' | 'cpu_cores' | 'memory_bytes', number>>
}

export type QuotaRules = {
  readonly identity: IdentityRules
  readonly clusterId: string
  readonly unlimited: Unlimited
}

export class QuotaRecords {
  readonly projects = new Roster<QuotaRecord>(({ key }) => key)
  readonly queues = new Roster<QuotaRecord>(({ key }) => key)

  refresh(tables: ClusterTables, seen: SeenTables, rules: QuotaRules): void {
    const { projects, queues } = recordsOf(tables, seen, rules)
    follow(this.projects, projects)
    follow(this.queues, queues)
  }
}

/** One that says the same as before is the same. */
function follow(roster: Roster<QuotaRecord>, records: readonly QuotaRecord[]): void {
  for (let i = records.length; roster.has(String(i)); i++) roster.delete(String(i))
  for (const record of records) {
    const known = roster.get(record.key)
    roster.put(record.key, known?.text === record.text ? known : record)
  }
}

function recordsOf(
  tables: ClusterTables,
  seen: SeenTables,
  rules: QuotaRules,
): { readonly projects: readonly QuotaRecord[]; readonly queues: readonly QuotaRecord[] } {
  const reader: PodReader = { look: entry => entry.value, tables, seen }
  const projectOf = (namespace: string): string => projectOfNamespace(reader, namespace, rules.identity)
  const { projects, departments, shared } = effectiveQuotas(quotaRows(tables, seen), projectOf)
  const byProject = Map.groupBy(projects, ({ project }) => project!)
  const queues = [...projects, ...departments, ...shared].filter(({ origin }) => origin !== 'resourcequota')
  return {
    projects: Array.from(byProject, ([project, rows], i) =>
      recordOf(i, { project, department: rows[0]!.department }, summed(rows), rules),
    ),
    queues: queues.map((row, i) =>
      recordOf(
        i,
        { queue: row.name, project: row.project, department: row.department, nodepool: row.nodepool },
        row,
        rules,
      ),
    ),
  }
}

function summed(rows: readonly Quota[]): QuotaAmounts {
  const sum = (of: (row: Quota) => number | undefined): number | undefined => {
    const told = rows.map(of).filter(amount => amount !== undefined)
    // Quotas are decimals of a few digits, and so is their sum.
    return told.length === 0 ? undefined : Number(told.reduce((a, b) => a + b).toPrecision(15))
  }
  return {
    gpus: sum(({ gpus }) => gpus),
    cpuCores: sum(({ cpuCores }) => cpuCores),
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
  }
}

function recordOf(
  number: number,
  names: Readonly<Record<string, string | undefined>>,
  { gpus, cpuCores, memoryBytes }: QuotaAmounts,
  { clusterId, unlimited }: { readonly clusterId: string; readonly unlimited: Unlimited },
): QuotaRecord {
  const shown = (amount: number | undefined): number =>
    amount === undefined
      ? NaN
      : amount !== Infinity
        ? amount
        : unlimited === 'inf'
          ? amount
          : unlimited === '-1'
            ? -1
            : NaN
  const quantities = { gpus: shown(gpus), cpu_cores: shown(cpuCores), memory_bytes: shown(memoryBytes) }
  const attributes: Readonly<Record<string, string | undefined>> = {
    ...names,
    cluster: clusterId,
    gpu_quota: textOf(quantities.gpus, 1),
    cpu_quota: textOf(quantities.cpu_cores, 1000),
    memory_quota: textOf(quantities.memory_bytes, 1e-6),
  }
  const entity = entityFrom(attribute => attributes[attribute])
  return { ...entity, key: String(number), text: JSON.stringify(attributes), quantities }
}

/** As the objects of Run:ai write them: whole numbers of thousandths of a core and of MB. */
function textOf(amount: number, factor: number): string | undefined {
  if (Number.isNaN(amount)) return undefined
  if (amount === Infinity) return '+Inf'
  return String(amount < 0 ? amount : Number((amount * factor).toPrecision(15)))
}
