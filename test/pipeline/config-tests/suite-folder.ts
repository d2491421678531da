/** A folder with test files for a test, and `gpucol test` called as users call it, with components of the test's own. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Registries } from '../../../pipeline/component.ts'
import { runCommand } from '../../../pipeline/commands/command.ts'
import { test as testCommand } from '../../../pipeline/commands/test.ts'
import { relabel } from '../../../processors/relabel.ts'
import { exporters, receivers } from '../../support/all-components.ts'

export type SuiteFolder = {
  path(name: string): string
  read(name: string): string
  /** Runs `gpucol test` with arguments in which a word that ends in .yaml is a file of the folder. */
  run(args: string, options?: { registries?: Partial<Registries>; env?: Record<string, string> }): Promise<Ran>
  remove(): void
}

/** Paths in the output are relative to the folder. */
export type Ran = { readonly code: number; readonly out: string; readonly err: string }

export const registries: Registries = { receivers, processors: [relabel], exporters, extensions: [] }

export function suiteFolder(files: Readonly<Record<string, string | Uint8Array>>): SuiteFolder {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-suite-'))
  const path = (name: string): string => resolve(folder, name)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), content)
  }
  return {
    path,
    read: name => readFileSync(path(name), 'utf8'),
    async run(args, options = {}) {
      let out = ''
      let err = ''
      const argv = args
        .split(' ')
        .filter(word => word !== '')
        .map(word => (/\.yaml$|^\.\//.test(word) ? path(word) : word))
      const code = await runCommand(testCommand, argv, {
        registries: async () => ({ ...registries, ...options.registries }),
        out: text => (out += text),
        err: text => (err += text),
        env: options.env ?? {},
        version: 'test',
        signal: new AbortController().signal,
        onHangup: () => () => {},
      })
      return { code, out: out.replaceAll(`${folder}/`, ''), err: err.replaceAll(`${folder}/`, '') }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** A config with one target, `node-a`, and one exporter, `prometheus`. */
export const CONFIG = `
receivers:
  dcgm: { static_targets: [node-a] }
exporters:
  prometheus: {}
service:
  pipelines:
    metrics: { receivers: [dcgm], exporters: [prometheus] }
`

/** Runs one file with one test, whose steps are given, and gives what is printed. */
export async function runSteps(
  steps: string,
  options: { config?: string; head?: string; args?: string; registries?: Partial<Registries> } = {},
): Promise<Ran> {
  const { config = CONFIG, head = 'config: config.yaml', args = '' } = options
  const indented = steps.replace(/^\n/, '').replaceAll(/^/gm, '      ')
  const folder = suiteFolder({
    'config.yaml': config,
    'test.yaml': `${head}\ntests:\n  - name: it\n    steps:\n${indented}\n`,
  })
  try {
    return await folder.run(`test.yaml ${args}`, options.registries && { registries: options.registries })
  } finally {
    folder.remove()
  }
}
