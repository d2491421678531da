/**
 * Lists of targets as Prometheus reads them from files and URLs, in YAML or JSON:
 *
 *   - targets: [10.0.0.1:9400, 10.0.0.2:9400]
 *     labels: { rack: b7 }
 */
import { parse } from 'yaml'
import type { DiscoveredTarget } from './discovery.ts'

/** In the failsafe schema every scalar is a text, so a label may be written `rack: 7`. */
export function groupsFromYaml(text: string, meta: Readonly<Record<string, string>>): DiscoveredTarget[] {
  return targetsOf(parse(text, { schema: 'failsafe' }), meta)
}

export function groupsFromJson(text: string, meta: Readonly<Record<string, string>>): DiscoveredTarget[] {
  return targetsOf(JSON.parse(text), meta)
}

/** Throws an Error that says which group is not as it should be. `meta` are labels that all targets get. */
function targetsOf(groups: unknown, meta: Readonly<Record<string, string>>): DiscoveredTarget[] {
  if (groups === null || groups === '') return []
  if (!Array.isArray(groups)) throw new Error('it is no list of target groups')
  return groups.flatMap((group, index) => {
    const { targets = [], labels = {}, ...others } = mapFrom(group, `group ${index + 1}`)
    const unknown = Object.keys(others)[0]
    if (unknown !== undefined) throw new Error(`group ${index + 1} has an unknown key "${unknown}"`)
    if (!Array.isArray(targets)) throw new Error(`\`targets\` of group ${index + 1} is no list`)
    const pairs = Object.entries(mapFrom(labels, `\`labels\` of group ${index + 1}`))
    const common = pairs.map(([name, value]) => [name, textFrom(value, `label ${name} of group ${index + 1}`)] as const)
    return targets.map(target => ({
      labels: new Map([...common, ...Object.entries(meta), ['__address__', addressFrom(target, index)]]),
    }))
  })
}

function addressFrom(target: unknown, index: number): string {
  return textFrom(target, `a target of group ${index + 1}`)
}

function mapFrom(value: unknown, what: string): Record<string, unknown> {
  if (value === null || value === '') return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw new Error(`${what} is no map`)
  return value as Record<string, unknown>
}

function textFrom(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} is no text`)
  return value
}
