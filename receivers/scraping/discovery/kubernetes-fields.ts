/** The keys that the ways to find targets in Kubernetes have in common. */
import type { Problem } from '../../../pipeline/component.ts'

export const accessFields = {
  kubeconfig: {
    type: 'string',
    default: '',
    description:
      'Path of a kubeconfig, or several as in the variable KUBECONFIG. Empty means the service account of the pod that this runs in.',
  },
  context: { type: 'string', description: 'Context of the kubeconfig, instead of its current one.' },
} as const

export const namespaces = {
  type: 'array',
  items: { type: 'string', minLength: 1, description: 'Name of a namespace.' },
  default: [],
  description: 'Only these namespaces are looked at. Empty means all.',
} as const

export const pageFields = {
  scheme: {
    type: 'string',
    enum: ['http', 'https'],
    description: 'Scheme of these targets, where it differs from that of the others.',
  },
  path: {
    type: 'string',
    pattern: '^/',
    description: 'Path of these targets, where it differs from that of the others.',
  },
} as const

export const labelSelector = {
  type: 'string',
  description: 'Which objects are taken, by their labels: `app=nvidia-dcgm-exporter,tier!=test`.',
} as const

export const fieldSelector = {
  type: 'string',
  description: 'Which objects are taken, by the fields that the API can select by: `spec.nodeName=node-1`.',
} as const

export const portNumber = { type: 'integer', minimum: 1, maximum: 65_535 } as const

export function portOrName<const D extends string>(description: D) {
  return { anyOf: [portNumber, { type: 'string', minLength: 1 }], description } as const
}

/** What sets the page of a target, as labels. */
export function pageLabels({ scheme, path }: { readonly scheme?: string; readonly path?: string }): [string, string][] {
  return [
    ...(scheme === undefined ? [] : [['__scheme__', scheme] satisfies [string, string]]),
    ...(path === undefined ? [] : [['__metrics_path__', path] satisfies [string, string]]),
  ]
}

export function checkNamespaces(names: readonly string[] = []): Problem[] {
  return names.flatMap((name, i) =>
    names.indexOf(name) < i ? [{ path: ['namespaces', i], message: `namespace "${name}" is here twice` }] : [],
  )
}
