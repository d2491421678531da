/** The namespaces of the cluster: those of the projects and those of its own services. */
import { hashText, uuidOf } from './random.ts'
import type { Project } from './tenants.ts'

export type Namespace = {
  readonly name: string
  readonly uid: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly createdMs: number
  version: number
}

export const RESERVATION_NAMESPACES = { runai: 'runai-reservation', kai: 'kai-resource-reservation' } as const
export const EXPORTER_NAMESPACE = 'gpu-operator'

const SYSTEM_NAMESPACES = ['default', 'kube-system', EXPORTER_NAMESPACE, ...Object.values(RESERVATION_NAMESPACES)]

export function makeNamespaces(projects: readonly Project[], seed: number, startMs: number): Namespace[] {
  const own = hashText('namespaces', seed)
  const createdMs = startMs - 400 * 86_400_000
  const system = SYSTEM_NAMESPACES.map(name => ({ name, labels: {}, annotations: {}, createdMs }))
  const tenants = projects.map(project => ({
    name: project.namespace,
    labels: labelsOf(project),
    annotations: { 'example.com/cost-center': `cc-${1000 + (hashText(project.department, seed) % 9000)}` },
    createdMs: project.createdMs,
  }))
  return [...system, ...tenants].map((namespace, at) => ({
    ...namespace,
    uid: uuidOf(own, at),
    labels: { 'kubernetes.io/metadata.name': namespace.name, ...namespace.labels },
    version: 0,
  }))
}

function labelsOf(project: Project): Record<string, string> {
  switch (project.tenancy) {
    case 'runai':
      return { 'runai/queue': project.name }
    case 'kueue':
      return { team: project.name, department: project.department, 'kueue-managed': 'true' }
    case 'kai':
    case 'plain':
      return { team: project.name, department: project.department }
  }
}
