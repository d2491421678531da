/** How families of 2.x become those of 1.x. */
import type { Family } from './family.ts'

export const LABELS_HELP = 'Kubernetes labels converted to Prometheus labels.'

/** Finds a family of 2.x by name. */
export function familiesOf<T>(families: readonly Family<T>[]): (name: string) => Family<T> {
  return name => withPlainHelp(families.find(family => family.name === name)!)
}

/** Nothing was promised about families in 1.x. */
export function withPlainHelp<T>(family: Family<T>): Family<T> {
  return { ...family, help: family.help.replace('[STABLE] ', '') }
}
