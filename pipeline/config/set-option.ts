/** `--set a.b=c`: one value, given on the command line. */
import type { Finding } from './finding.ts'
import { createSource, type Place } from './source.ts'
import { readYaml, relocate, type YamlMap, type YamlNode } from './yaml-source.ts'

export type SetOption = {
  /** Maps down to the value, to be merged over the config; undefined if there are findings. */
  readonly tree: YamlMap | undefined
  readonly findings: readonly Finding[]
}

/** The value is read as YAML. `lookInto` tells which keys the config has, because keys may have dots in them. */
export function readSetOption(option: string, config: YamlNode, lookInto: (node: YamlNode) => YamlNode): SetOption {
  const prefix = '--set '
  const equals = option.indexOf('=')
  const key = equals < 0 ? option : option.slice(0, equals)
  const source = createSource(prefix + key, prefix + option, { hasLines: false })
  const whole: Place = { source, start: prefix.length, end: prefix.length + key.length }
  const fail = (message: string): SetOption => ({ tree: undefined, findings: [{ place: whole, message }] })
  if (equals < 0) return fail('a value is missing; write key=value')

  const segments = splitKey(key, config, lookInto)
  if (segments.includes('')) return fail('a part of the key is empty')

  const valueStart = whole.end + 1
  const move = ({ start, end }: Place): Place => ({ source, start: valueStart + start, end: valueStart + end })
  const { root, findings } = readYaml(createSource('', option.slice(equals + 1)))
  if (findings.length > 0)
    return { tree: undefined, findings: findings.map(finding => ({ ...finding, place: move(finding.place) })) }

  let tree = relocate(root, move)
  for (const segment of segments.toReversed())
    tree = { kind: 'map', place: tree.place, entries: new Map([[segment, { keyPlace: whole, value: tree }]]) }
  return { tree: tree as YamlMap, findings: [] }
}

/**
 * `a.b.c`, or `a::b::c` as in the Collector. At dots the longest key that the config has is taken: names of components may hold
 * dots, as in `exporters.otlp_http/eu.west.endpoint`.
 */
function splitKey(key: string, config: YamlNode, lookInto: (node: YamlNode) => YamlNode): string[] {
  if (key.includes('::')) return key.split('::')
  const words = key.split('.')
  const segments: string[] = []
  let node: YamlNode | undefined = config
  for (let at = 0; at < words.length;) {
    const entries: YamlMap['entries'] | undefined = node && entriesOf(lookInto(node))
    let end: number = words.length
    while (end > at + 1 && !entries?.has(words.slice(at, end).join('.'))) end--
    const segment = words.slice(at, end).join('.')
    segments.push(segment)
    node = entries?.get(segment)?.value
    at = end
  }
  return segments
}

function entriesOf(node: YamlNode): YamlMap['entries'] | undefined {
  return node.kind === 'map' ? node.entries : undefined
}
