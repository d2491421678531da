/** Finds components that want to listen on one address. */
import type { Sections, Usage } from './check-pipelines.ts'
import { KINDS, SECTIONS } from './config-schema.ts'
import { clashes, parseEndpoint, type Endpoint } from './endpoint.ts'
import { placeOfValue } from './entry-path.ts'
import type { Finding } from './finding.ts'
import { lineAndColumn, type Place, type Source } from './source.ts'

type Listener = {
  readonly address: string
  readonly endpoint: Endpoint
  readonly owner: string
  /** Undefined for an address that is nobody's words: then the other one is the later. */
  readonly place: Place | undefined
}

/** Reports at the later of the two; `order` tells which source comes first. Only what runs is looked at. */
export function checkListeners(
  sections: Sections,
  usage: Usage,
  ownMetrics: { readonly address: string; readonly place: Place | undefined },
  order: (source: Source) => number,
  report: (finding: Finding) => void,
): void {
  const listeners = [
    ...listenersOf(sections, usage),
    ...listenerAt('`service.telemetry.metrics.address`', ownMetrics.address, ownMetrics.place),
  ]
  const rank = ({ place }: Listener): readonly [number, number] =>
    place === undefined ? [-1, 0] : [order(place.source), place.start]
  listeners.sort((a, b) => rank(a)[0] - rank(b)[0] || rank(a)[1] - rank(b)[1])
  for (const [index, later] of listeners.entries()) {
    const earlier = listeners.slice(0, index).find(other => clashes(other.endpoint, later.endpoint))
    if (earlier === undefined || later.place === undefined) continue
    const message = `${later.owner} cannot listen on ${later.address}, taken by ${earlier.owner}${details(earlier)}`
    report({ place: later.place, message })
  }
}

function listenersOf(sections: Sections, { used }: Usage): Listener[] {
  return SECTIONS.flatMap(section =>
    [...sections[section].components].flatMap(([id, { component, entry, isGood }]) => {
      if (!isGood || !used[section].has(id)) return []
      const listens = component.definition.listens?.(component.config) ?? []
      return listens.flatMap(({ address, path }) =>
        listenerAt(`${KINDS[section]} \`${id}\``, address, placeOfValue(entry, path)),
      )
    }),
  )
}

function listenerAt(owner: string, address: string, place: Place | undefined): Listener[] {
  try {
    return [{ address, endpoint: parseEndpoint(address), owner, place }]
  } catch {
    // `none`, or wrong, which the schema says.
    return []
  }
}

function details({ address, place }: Listener): string {
  if (place === undefined) return ` (${address} by default)`
  const { source, start } = place
  return ` (${address}, ${source.hasLines ? `line ${lineAndColumn(source, start).line}` : source.name})`
}
