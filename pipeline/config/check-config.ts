/** Checks a config as a whole, after merging and expansion. */
import type { Registries } from '../component.ts'
import { checkListeners } from './check-listeners.ts'
import { checkPipelines, checkUnused, type Sections, type Usage } from './check-pipelines.ts'
import { checkValue } from './check-value.ts'
import { closest } from './closest.ts'
import { SECTIONS } from './config-schema.ts'
import { nodeAt, placeOfValue } from './entry-path.ts'
import type { Finding } from './finding.ts'
import { loadSection } from './load-section.ts'
import type { ServiceConfig } from './loaded-config.ts'
import { serviceSchema } from './service-schema.ts'
import type { Source } from './source.ts'
import type { YamlEntry, YamlMap } from './yaml-source.ts'

export type CheckedConfig = {
  readonly sections: Sections
  readonly usage: Usage
  /** With defaults; right only if there are no errors. */
  readonly service: ServiceConfig
  readonly findings: readonly Finding[]
}

export function checkConfig(root: YamlMap, registries: Registries, order: (source: Source) => number): CheckedConfig {
  const findings: Finding[] = []
  const report = (finding: Finding) => void findings.push(finding)
  checkTopLevel(root, report)
  const sections: Sections = {
    receivers: loadSection('receivers', root.entries, registries, report),
    processors: loadSection('processors', root.entries, registries, report),
    exporters: loadSection('exporters', root.entries, registries, report),
    extensions: loadSection('extensions', root.entries, registries, report),
  }
  const entry = root.entries.get('service') ?? nothingIn(root)
  const { value, findings: serviceFindings } = checkValue(entry, 'service', serviceSchema)
  for (const finding of serviceFindings) report(finding)
  const usage = checkPipelines(entry, value, sections, report)
  checkUnused(sections, usage, report)

  const service = (value ?? {}) as ServiceConfig
  const path = ['telemetry', 'metrics', 'address']
  const place = nodeAt(entry, path) && placeOfValue(entry, path)
  const address = service.telemetry?.metrics?.address
  if (typeof address === 'string') checkListeners(sections, usage, { address, place }, order, report)
  return { sections, usage, service, findings }
}

function checkTopLevel(root: YamlMap, report: (finding: Finding) => void): void {
  const known = [...SECTIONS, 'service']
  for (const [key, { keyPlace }] of root.entries) {
    if (known.includes(key)) continue
    const suggestion = closest(key, known)
    const list = suggestion === undefined ? `; a config has ${known.join(', ')}` : ''
    report({ place: keyPlace, message: `unknown key \`${key}\`${list}`, suggestion })
  }
  const { source, start } = root.place
  if (!root.entries.has('service'))
    report({ place: { source, start, end: start }, message: '`service` is missing: it says which pipelines run' })
}

/** Stands in for a section that is missing, which is reported once and not again for each of its parts. */
function nothingIn({ place }: YamlMap): YamlEntry {
  return { keyPlace: place, value: { kind: 'hole', place } }
}
