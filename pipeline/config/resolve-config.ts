/** From the command line to one tree: reads the files, merges them, applies `--set`, expands references. */
import { resolve } from 'node:path'
import { readConfigFile, readFileFromDisk, type ReadFile } from './config-file.ts'
import { createExpander } from './expand.ts'
import type { Finding } from './finding.ts'
import { mergeNodes } from './merge.ts'
import { environmentScheme, fileScheme } from './schemes.ts'
import { readSetOption } from './set-option.ts'
import { createSource, startOf } from './source.ts'
import { readYaml, type YamlMap, type YamlNode } from './yaml-source.ts'

export type ResolveOptions = {
  readonly files: readonly string[]
  readonly set: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readFile?: ReadFile
}

export type ResolvedConfig = {
  /** What the files say, one tree each, as far as it could be understood. */
  readonly roots: readonly YamlNode[]
  /** The config; missing if one of the files could not be read. */
  readonly root: YamlMap | undefined
  readonly findings: readonly Finding[]
}

export function resolveConfig({ files, set, env, readFile = readFileFromDisk }: ResolveOptions): ResolvedConfig {
  const findings: Finding[] = []
  const report = (finding: Finding) => void findings.push(finding)
  const roots: YamlNode[] = []
  const maps: YamlMap[] = []
  for (const name of files) {
    const path = resolve(name)
    const file = readConfigFile(path, readFile)
    if ('problem' in file) {
      report({ place: startOf(createSource(name, '', { path, hasLines: false })), message: file.problem })
      continue
    }
    const document = readYaml(createSource(name, file.text, { path }))
    findings.push(...document.findings)
    roots.push(document.root)
    if (!document.broken) maps.push(...rootMap(document.root, report))
  }
  if (maps.length < files.length) return { roots, root: undefined, findings }

  const schemes = new Map([
    ['env', environmentScheme(env)],
    ['file', fileScheme(readFile)],
  ])
  const { expandAll, expandWhole } = createExpander(schemes, report)
  // From the right, so that what is replaced is not even looked at.
  let root: YamlNode = maps.at(-1) ?? emptyMap(startOf(createSource('', '')))
  for (const map of maps.slice(0, -1).toReversed()) root = mergeNodes(map, root, expandWhole)
  for (const option of set) {
    const setOption = readSetOption(option, root, expandWhole)
    findings.push(...setOption.findings)
    if (setOption.tree !== undefined) root = mergeNodes(root, setOption.tree, expandWhole)
  }
  return { roots, root: expandAll(root) as YamlMap, findings }
}

/** An empty file is an empty map. */
function rootMap(root: YamlNode, report: (finding: Finding) => void): YamlMap[] {
  if (root.kind === 'map') return [root]
  if (root.kind === 'scalar' && root.value === null) return [emptyMap(root.place)]
  if (root.kind === 'hole') return []
  const found = root.kind === 'list' ? 'a list' : 'a single value'
  report({ place: root.place, message: `a config is a map with keys such as \`receivers\`; this is ${found}` })
  return []
}

function emptyMap(place: YamlNode['place']): YamlMap {
  return { kind: 'map', place, entries: new Map() }
}
