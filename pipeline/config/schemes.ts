/** Where references get their texts from: `${env:NAME}` and `${file:path}`. */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { readConfigFile, type ReadFile } from './config-file.ts'
import { createSource, type Place } from './source.ts'
import { readYaml, type YamlDocument } from './yaml-source.ts'

/** What may stand before the colon of a reference. */
export type Scheme = {
  /** Whether `:-default` may follow. */
  readonly takesDefault: boolean
  /** `place` is where the reference stands. */
  retrieve(name: string, place: Place): Retrieved
}

export type Retrieved =
  | {
      readonly text: string
      /** Two references with one key stand for the same. */
      readonly key: string
      readonly label: string
      /** The text as YAML with places of its own. Without it, the text is read as a value that stands where the reference does. */
      readonly document?: YamlDocument
    }
  | {
      readonly problem: string
      /** The name is all right, but nothing has it: a default may take its place. */
      readonly isUnset?: true
    }

export function environmentScheme(env: Readonly<Record<string, string | undefined>>): Scheme {
  return {
    takesDefault: true,
    retrieve(name) {
      if (!/^[A-Za-z_]\w*$/.test(name)) return { problem: `"${name}" cannot be the name of an environment variable` }
      // Own properties only: a variable may be called `constructor`.
      const text = Object.hasOwn(env, name) ? env[name] : undefined
      if (text !== undefined) return { text, key: `env:${name}`, label: `\${env:${name}}` }
      const problem = `environment variable \`${name}\` is not set; give it a default: \`\${env:${name}:-default}\``
      return { problem, isUnset: true }
    },
  }
}

/** Relative paths start at the file that names them. */
export function fileScheme(readFile: ReadFile): Scheme {
  return {
    takesDefault: false,
    retrieve(name, place) {
      const { source } = place
      if (name.includes('$'))
        return { problem: `"${name}" is no path; an environment variable in it is \`\${env:NAME}\`` }
      if (name === '') return { problem: '`${file:}` names no file' }
      const path = resolve(source.path === undefined ? '.' : dirname(source.path), name)
      const shownAs = isAbsolute(name) || source.path === undefined ? name : join(dirname(source.name), name)
      const file = readConfigFile(path, readFile)
      if ('problem' in file) return { problem: `${shownAs}: ${file.problem}` }
      // Secrets are kept in files that end with a line break which is no part of them.
      const text = file.text.replace(/\r?\n$/, '')
      const retrieved = { text, key: `file:${path}`, label: shownAs }
      if (!/\.(ya?ml|json)$/i.test(path)) return retrieved
      return { ...retrieved, document: readYaml(createSource(shownAs, file.text, { path })) }
    },
  }
}
