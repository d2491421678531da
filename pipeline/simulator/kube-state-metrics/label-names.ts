/** How kube-state-metrics turns labels and annotations of objects into labels of series. */

/** Which keys are shown, by resource (`pods`, `nodes`); `*` means all. Nothing is shown of a resource that is not listed. */
export type AllowList = Readonly<Record<string, readonly string[]>>

/** `runai/queue` becomes `label_runai_queue`, `workloadName` becomes `label_workload_name`. */
export function labelName(prefix: 'label' | 'annotation', key: string): string {
  const snake = key.replace(/[^a-zA-Z0-9_]/g, '_').replace(/([a-z0-9])([A-Z])/g, '$1_$2')
  return `${prefix}_${snake.toLowerCase()}`
}

/** The labels, each beginning with a comma, by name. Keys that end up with one name are told apart by a number. */
export function renderLabels(
  prefix: 'label' | 'annotation',
  values: Readonly<Record<string, string>>,
  allowed: readonly string[],
): string {
  const keys = Object.keys(values).filter(key => allowed.includes('*') || allowed.includes(key))
  const keysByName = Map.groupBy(keys.toSorted(), key => labelName(prefix, key))
  let text = ''
  for (const name of [...keysByName.keys()].toSorted()) {
    const same = keysByName.get(name)!
    for (const [at, key] of same.entries()) {
      const suffix = same.length === 1 ? '' : `_conflict${at + 1}`
      text += `,${name}${suffix}="${escapeValue(values[key]!)}"`
    }
  }
  return text
}

/** All labels as version 1 shows them: names keep their case, and two that end up the same stay so. */
export function plainLabels(values: Readonly<Record<string, string>>): string {
  return Object.keys(values)
    .toSorted()
    .map(key => `,label_${resourceName(key)}="${escapeValue(values[key]!)}"`)
    .join('')
}

export function escapeValue(value: string): string {
  return /["\\\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value
}

/** Names of resources: `nvidia.com/gpu` becomes `nvidia_com_gpu`. */
export function resourceName(resource: string): string {
  return resource.replace(/[^a-zA-Z0-9_]/g, '_')
}
