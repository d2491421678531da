/** What a family of kube-state-metrics is: a head, and the lines of one object. */
import { formatShortest } from '../go-number.ts'
import { isPod, type Owner, type Pod } from '../pod.ts'

export type Family<T> = {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  /** All lines of one object, each with its line break; empty if it has none. `identity` is the labels that every line begins with. */
  lines(name: string, identity: string, object: T): string
}

/** One series: further labels, each beginning with a comma, and its value. */
export function line(name: string, identity: string, labels: string, value: number): string {
  return `${name}{${identity}${labels}} ${formatShortest(value)}\n`
}

export function seconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}

/** A family with one line per object; none where the value is undefined. */
export function single<T>(
  name: string,
  help: string,
  value: (object: T) => number | undefined,
  labels: (object: T) => string = () => '',
  type: 'gauge' | 'counter' = 'gauge',
): Family<T> {
  return {
    name,
    help,
    type,
    lines(name, identity, object) {
      const number = value(object)
      return number === undefined ? '' : line(name, identity, labels(object), number)
    },
  }
}

/** One series with 1 and the owner; without an owner the labels are there and empty. The youngest of these has one label less. */
export function ownerFamily<T extends { readonly owner?: Owner | Pod }>(
  name: string,
  help: string,
  { saysController = true, none = '' }: { readonly saysController?: boolean; readonly none?: string } = {},
): Family<T> {
  return single(
    name,
    help,
    () => 1,
    ({ owner }) => {
      const [kind, ownerName, controller] =
        owner === undefined ? [none, none, none] : [kindOf(owner), owner.name, 'true']
      const labels = `,owner_kind="${kind}",owner_name="${ownerName}"`
      return saysController ? `${labels},owner_is_controller="${controller}"` : labels
    },
  )
}

export function kindOf(owner: Owner | Pod): string {
  return isPod(owner) ? 'Pod' : owner.kind
}

/** One series per value of a label: 1 for the one that holds, 0 for the others. */
export function oneOf(name: string, identity: string, label: string, values: readonly string[], holds: string): string {
  let text = ''
  for (const value of values) text += `${name}{${identity},${label}="${value}"} ${value === holds ? 1 : 0}\n`
  return text
}

export function renderHead<T>({ name, help, type }: Family<T>): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}
