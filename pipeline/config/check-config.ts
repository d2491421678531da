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
  checkKeys(root, report)
  checkParts(root, report)
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

function checkKeys(root: YamlMap, report: (finding: Finding) => void): void {
  const known = [...SECTIONS, 'service']
  for (const [key, { keyPlace }] of root.entries) {
    if (known.includes(key)) continue
    const suggestion = closest(key, known)
    const list = suggestion === undefined ? `; a config has ${known.join(', ')}` : ''
    report({ place: keyPlace, message: `unknown key \`${key}\`${list}`, suggestion })
  }
}

function checkParts(root: YamlMap, report: (finding: Finding) => void): void {
  const { source, start } = root.place
  const service = root.entries.get('service')
  const isEmpty = service?.value.kind === 'scalar' && service.value.value === null
  const isWithout = isEmpty || (service?.value.kind === 'map' && !service.value.entries.has('pipelines'))
  if (service === undefined)
    report({ place: { source, start, end: start }, message: '`service` is missing: it says which pipelines run' })
  else if (isWithout) report({ place: service.keyPlace, message: '`pipelines` is missing in `service`' })
}

/** Stands in for a section that is missing. */
function nothingIn({ place }: YamlMap): YamlEntry {
  return { keyPlace: place, value: { kind: 'scalar', place, value: null, spelling: '' } }
}
