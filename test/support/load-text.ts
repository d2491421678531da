/** Loads configs from texts instead of files. */
import { resolve } from 'node:path'
import { ConfigError, type ConfigProblem } from '../../pipeline/config/config-error.ts'
import type { ReadFile } from '../../pipeline/config/config-file.ts'
import { loadConfig, type LoadedConfig, type LoadOptions } from '../../pipeline/config/loaded-config.ts'
import { testRegistries } from './test-registries.ts'

/** Files by name, as if they stood in the current directory. */
export function filesFromTexts(texts: Readonly<Record<string, string | Uint8Array>>): ReadFile {
  const byPath = new Map(Object.entries(texts).map(([name, text]) => [resolve(name), text]))
  return path => {
    const text = byPath.get(path)
    if (text === undefined) throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
    return typeof text === 'string' ? Buffer.from(text) : text
  }
}

type Options = Partial<LoadOptions> & { readonly texts?: Readonly<Record<string, string | Uint8Array>> }

/** The text is a file called `config.yaml`; `texts` are further ones, which `files` may name and references may take in. */
export function loadText(text: string, options: Options = {}): Promise<LoadedConfig> {
  const { texts, ...rest } = options
  return loadConfig({
    files: ['config.yaml'],
    set: [],
    registries: testRegistries,
    env: {},
    readFile: filesFromTexts({ 'config.yaml': text, ...texts }),
    ...rest,
  })
}

/** Everything that is wrong with it, warnings included. */
export async function problemsOf(text: string, options: Options = {}): Promise<readonly ConfigProblem[]> {
  try {
    return (await loadText(text, options)).warnings
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** One line for each problem: `line:column: message`, and what was probably meant. */
export async function complaints(text: string, options: Options = {}): Promise<string[]> {
  return (await problemsOf(text, options)).map(({ file, line, column, message, suggestion, severity }) => {
    const place = line === undefined ? file : `${line}:${column}`
    const meant = suggestion === undefined ? '' : ` (${suggestion}?)`
    return `${place}: ${severity === 'warning' ? 'warning: ' : ''}${message}${meant}`
  })
}

/** A config that is good, with something put into it; the lines added begin at line 2. */
export function withReceiver(body: string): string {
  return `receivers:\n${body}\nexporters: { serve: }\nservice: { pipelines: { metrics: { receivers: [pull], exporters: [serve] } } }\n`
}

export function withExporter(body: string): string {
  return `exporters:\n${body}\nreceivers: { pull: }\nservice: { pipelines: { metrics: { receivers: [pull], exporters: [push_http] } } }\n`
}
