/** Checks what `service` says about components: which pipelines there are, and whether all that they name exists. */
import { closest } from './closest.ts'
import { KINDS, type SectionName } from './config-schema.ts'
import { nodeAt, placeOfKey, placeOfValue } from './entry-path.ts'
import type { Finding } from './finding.ts'
import { formatId, parseId, parsePipelineId } from './ids.ts'
import type { PipelineConfig } from './loaded-config.ts'
import type { Section } from './load-section.ts'
import type { Path } from './plain-value.ts'
import type { YamlEntry } from './yaml-source.ts'

export type Sections = { readonly [S in SectionName]: Section<S> }

export type Usage = {
  readonly pipelines: ReadonlyMap<string, PipelineConfig>
  readonly extensions: readonly string[]
  /** The ids that run, by section. */
  readonly used: Readonly<Record<SectionName, ReadonlySet<string>>>
}

/** `value` is what `entry` says, as plain data; parts of it may still have the wrong type, which is reported elsewhere. */
export function checkPipelines(
  entry: YamlEntry,
  value: unknown,
  sections: Sections,
  report: (finding: Finding) => void,
): Usage {
  const used = {
    receivers: new Set<string>(),
    processors: new Set<string>(),
    exporters: new Set<string>(),
    extensions: new Set<string>(),
  }

  /** The ids of a list, as they are defined. */
  function idsIn(list: unknown, section: SectionName, path: Path): string[] {
    const ids: string[] = []
    if (!Array.isArray(list)) return ids
    for (const [index, item] of list.entries()) {
      if (typeof item !== 'string') continue
      const place = placeOfValue(entry, [...path, index])
      const parsed = parseId(item)
      if ('problem' in parsed) {
        report({ place, message: parsed.problem, suggestion: parsed.suggestion })
        continue
      }
      const id = sections[section].normalize(item)
      const isTwice = ids.includes(id)
      if (isTwice) report({ place, message: `${KINDS[section]} \`${item}\` stands twice in this list` })
      else if (isDefined(id, section)) ids.push(id)
      else report({ place, ...undefinedReference(item, section, sections) })
      used[section].add(id)
    }
    return ids
  }

  function isDefined(id: string, section: SectionName): boolean {
    return sections[section].isUnknown || sections[section].ids.has(id)
  }

  function checkPipeline(key: string, pipeline: unknown): PipelineConfig | undefined {
    const path = ['pipelines', key]
    const keyPlace = placeOfKey(entry, path)
    const id = parsePipelineId(key)
    if ('problem' in id) {
      report({ place: keyPlace, message: id.problem, suggestion: id.suggestion ?? closest(key, ['metrics']) })
    } else if (id.type !== 'metrics') {
      report({
        place: keyPlace,
        message: `pipeline \`${key}\`: gpucol has pipelines for metrics only, not for ${id.type}`,
      })
    }
    if (typeof pipeline !== 'object' || pipeline === null || Array.isArray(pipeline)) return undefined
    const lists = pipeline as Record<'receivers' | 'processors' | 'exporters', unknown>
    for (const section of ['receivers', 'exporters'] as const) {
      const list = lists[section]
      const place = list === undefined ? keyPlace : placeOfValue(entry, [...path, section])
      const isEmpty = list === undefined || (Array.isArray(list) && list.length === 0)
      if (isEmpty && nodeAt(entry, [...path, section])?.kind !== 'hole')
        report({ place, message: `pipeline \`${key}\` has no ${section}` })
    }
    return {
      id: 'problem' in id ? key : formatId(id),
      receivers: idsIn(lists.receivers, 'receivers', [...path, 'receivers']),
      processors: idsIn(lists.processors, 'processors', [...path, 'processors']),
      exporters: idsIn(lists.exporters, 'exporters', [...path, 'exporters']),
    }
  }

  const service = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const pipelines = new Map<string, PipelineConfig>()
  const given = service['pipelines']
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
    for (const [key, pipeline] of Object.entries(given)) {
      const checked = checkPipeline(key, pipeline)
      if (checked !== undefined) pipelines.set(checked.id, checked)
    }
    if (Object.keys(given).length === 0)
      report({ place: placeOfValue(entry, ['pipelines']), message: '`service.pipelines` has no pipelines' })
  }
  const extensions = idsIn(service['extensions'], 'extensions', ['extensions'])
  return { pipelines, extensions, used }
}

function undefinedReference(
  id: string,
  section: SectionName,
  sections: Sections,
): { message: string; suggestion?: string | undefined } {
  const message = `${KINDS[section]} \`${id}\` is not defined in \`${section}\``
  return { message, suggestion: closest(id, sections[section].ids) }
}

/** Defined and not used is no mistake, but rarely meant. */
export function checkUnused(sections: Sections, { used }: Usage, report: (finding: Finding) => void): void {
  for (const section of Object.keys(sections) as SectionName[])
    for (const [id, { entry }] of sections[section].components) {
      if (used[section].has(id)) continue
      const where = section === 'extensions' ? 'not named in `service.extensions`' : 'used in no pipeline'
      const message = `${KINDS[section]} \`${id}\` is defined, but ${where}`
      report({ place: entry.keyPlace, message, severity: 'warning' })
    }
}
