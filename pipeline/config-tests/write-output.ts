/** Writes what the exporters got, one file per test, step and exporter: DIR/file/test/02-30s/prometheus.prom. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderText } from '../formats/render-text.ts'
import type { ExportedState } from './exported-state.ts'
import type { ConfigTest, Step, Suite } from './suite.ts'

export type OutputWriter = (suite: Suite, test: ConfigTest, step: Step, state: ExportedState) => void

export function createOutputWriter(directory: string): OutputWriter {
  const owners = new Map<string, ConfigTest>()

  /** Two tests may have one name, and names may differ only in what a path cannot hold. */
  function folderOf(suite: Suite, test: ConfigTest): string {
    const wanted = join(directory, pathPart(suite.file), pathPart(test.name))
    let folder = wanted
    for (let number = 2; (owners.get(folder) ?? test) !== test; number++) folder = `${wanted}-${number}`
    owners.set(folder, test)
    return folder
  }

  return (suite, test, step, { batches }) => {
    const number = String(test.steps.indexOf(step) + 1).padStart(String(test.steps.length).length, '0')
    const folder = join(folderOf(suite, test), `${number}-${pathPart(step.at)}`)
    mkdirSync(folder, { recursive: true })
    for (const [exporter, latest] of batches) {
      const text = renderText(latest.values(), { escaping: 'allow-utf-8' })
      writeFileSync(join(folder, `${pathPart(exporter)}.prom`), text)
    }
  }
}

function pathPart(text: string): string {
  const part = text.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[.-]+/, '')
  return part === '' ? '-' : part.slice(0, 120)
}
