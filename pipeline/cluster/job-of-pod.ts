/**
 * The job that a pod is part of, as older vocabularies have it: what Run:ai marks the pod with, else its direct controller, else its
 * workload.
 */
import type { Identity } from './identity.ts'
import { inAnySpelling } from './look-up.ts'
import type { Pod } from './objects.ts'

const jobId = inAnySpelling('runai-job-id')
const release = inAnySpelling('release')

export function jobOfPod(
  pod: Pod,
  workloadId: string,
  identity: Identity,
): { readonly id: string; readonly name: string } {
  const controller = pod.owners.find(owner => owner.controller && owner.uid !== '')
  const marked = jobId(pod.annotations)
  const owner = marked === undefined ? controller?.name : undefined
  return {
    id: marked ?? controller?.uid ?? workloadId,
    name: release(pod.labels) ?? owner ?? identity.workload_name?.value ?? '',
  }
}
