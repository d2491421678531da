/** What is known of an object of Kubernetes as labels, named as Prometheus names them. */
import { isRecord, type ObjectMetadata } from '../../../pipeline/kubernetes/api-object.ts'

export type MetaLabel = readonly [name: string, value: string]

/** The whole object once more, as somebody wrote it: kilobytes that no rule asks for. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** `role` is the kind as it is in the names of labels: `pod`. */
export function metadataLabels(role: string, { name, namespace, labels, annotations }: ObjectMetadata): MetaLabel[] {
  const found: MetaLabel[] = [[`__meta_kubernetes_${role}_name`, name]]
  if (namespace !== undefined) found.push(['__meta_kubernetes_namespace', namespace])
  for (const [what, values] of Object.entries({ label: labels, annotation: annotations })) {
    for (const [key, value] of Object.entries(values ?? {})) {
      if (key === LAST_APPLIED) continue
      found.push([`__meta_kubernetes_${role}_${what}_${labelName(key)}`, textOf(value)])
      found.push([`__meta_kubernetes_${role}_${what}present_${labelName(key)}`, 'true'])
    }
  }
  return found
}

/** `entries` are names after `__meta_kubernetes_`. What is empty or not there gets no label. */
export function metaLabels(entries: Readonly<Record<string, unknown>>): MetaLabel[] {
  return Object.entries(entries).flatMap(([name, value]): MetaLabel[] => {
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : textOf(value)
    return text === '' ? [] : [[`__meta_kubernetes_${name}`, text]]
  })
}

/** `app.kubernetes.io/name` is `app_kubernetes_io_name`. */
function labelName(key: string): string {
  return key.replaceAll(/\W/g, '_')
}

/** Undefined if it is a name. Names have a letter in them, so that a number in quotes is a number. */
export function portNumberOf(port: number | string): number | undefined {
  if (typeof port === 'number') return port
  return /^\d+$/.test(port) ? Number(port) : undefined
}

export function addressOf(host: string, port?: number): string {
  const bracketed = host.includes(':') ? `[${host}]` : host
  return port === undefined ? bracketed : `${bracketed}:${port}`
}

export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

export function recordsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
