/** Who asks the Kubernetes API, and where it is: the service account of the pod we run in, or a kubeconfig. */
import type { Clock } from '../component.ts'
import type { KubernetesCredentials } from './access.ts'
import { machine, type CredentialSystem } from './credential-system.ts'
import { createInClusterCredentials } from './in-cluster.ts'
import { createKubeconfigCredentials } from './kubeconfig-credentials.ts'
import { kubeconfigPaths } from './kubeconfig.ts'

export type KubernetesCredentialsOptions = {
  /** Paths as in the variable KUBECONFIG; the service account if this is empty. */
  readonly kubeconfig: string
  /** Instead of the current one of the kubeconfig. */
  readonly context?: string
  readonly clock: Clock
  readonly system?: CredentialSystem
}

/** Reads nothing yet. */
export function createKubernetesCredentials(options: KubernetesCredentialsOptions): KubernetesCredentials {
  const { kubeconfig, context, clock, system = machine } = options
  const paths = kubeconfigPaths(kubeconfig, system.env)
  if (paths.length === 0) return createInClusterCredentials(clock, system)
  return createKubeconfigCredentials(paths, context, clock, system)
}
