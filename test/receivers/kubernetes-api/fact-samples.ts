/** Samples of the families that the receiver makes, in words and sorted, so that those of kube-state-metrics can stand beside them. */
import { FACT_METRICS } from '../../../receivers/kubernetes-api/facts.ts'
import type { Sample } from '../../pipeline/simulator/samples.ts'

export const FACT_FAMILIES: ReadonlySet<string> = new Set(FACT_METRICS.map(({ name }) => name))

/** Kube-state-metrics 2.x does not have these. */
const OF_VERSION_1 = /^kube_pod_container_resource_requests_(cpu_cores|memory_bytes)$/
/** Labels of the target. */
const OF_TARGET = ['job', 'instance']

/** Of a pod only the phase that it is in. Labels without a value are not there. */
export function factSamples(samples: readonly Sample[], isWanted: (family: string) => boolean = () => true): string[] {
  return samples
    .filter(({ name }) => FACT_FAMILIES.has(name) && !OF_VERSION_1.test(name) && isWanted(name))
    .filter(({ name, value }) => name !== 'kube_pod_status_phase' || value !== '0')
    .map(({ name, labels, value }) => {
      const known = Object.entries(labels).filter(([label, text]) => text !== '' && !OF_TARGET.includes(label))
      const pairs = known.map(([label, text]) => `${label}=${text}`).toSorted()
      return `${name} ${pairs.join(' ')} ${Number(value)}`
    })
    .toSorted()
}
