/** Expands `${...}` in a test file as in a config. */
import { readFileFromDisk } from '../config/config-file.ts'
import { createExpander } from '../config/expand.ts'
import type { Finding } from '../config/finding.ts'
import { environmentScheme, fileScheme } from '../config/schemes.ts'
import type { YamlNode } from '../config/yaml-source.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export function expandReferences(node: YamlNode, env: Environment, report: (finding: Finding) => void): YamlNode {
  const schemes = new Map([
    ['env', environmentScheme(env)],
    ['file', fileScheme(readFileFromDisk)],
  ])
  return createExpander(schemes, report).expandAll(node)
}
