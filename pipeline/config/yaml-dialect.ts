/** The dialect of YAML that configs are written in, for reading and for printing alike. */
import type { DocumentOptions, ParseOptions, ScalarTag, SchemaOptions } from 'yaml'

/** The Collector's reader takes a leading zero for octal, as YAML 1.1 did. 123 for a mode of 0123 would be a silent mistake. */
const octal: ScalarTag = {
  default: true,
  tag: 'tag:yaml.org,2002:int',
  test: /^[-+]?0[0-7]+$/,
  resolve: text => (text.startsWith('-') ? -1 : 1) * Number.parseInt(text.replace(/^[-+]/, ''), 8),
}

export const YAML_OPTIONS = {
  version: '1.2',
  schema: 'core',
  customTags: tags => [octal, ...tags],
  stringKeys: true,
  // Checked by `yaml-source.ts`: the library takes quadratic time for it.
  uniqueKeys: false,
  // Its messages would quote the source, secrets included.
  prettyErrors: false,
} as const satisfies ParseOptions & DocumentOptions & SchemaOptions
