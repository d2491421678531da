/** What every component keeps to, whatever it does: walks the registries. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { RefusedError, type ExtensionHost } from '../pipeline/component.ts'
import { ConfigError } from '../pipeline/config/config-error.ts'
import { loadConfig } from '../pipeline/config/loaded-config.ts'
import { endBatch, type Batch } from '../pipeline/model/batch.ts'
import { batchFromText } from './support/batch-from-text.ts'
import { deepFreeze } from './support/deep-freeze.ts'
import { testHost } from './support/test-host.ts'
import { allComponents, receivers, registries } from './support/all-components.ts'

const root = join(import.meta.dirname, '..')
const folders = { receivers: 'receivers', processors: 'processors', exporters: 'exporters' } as const
const kinds = ['receivers', 'processors', 'exporters', 'extensions'] as const
type Kind = (typeof kinds)[number]

const TEXT = `# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="node-a",pod="train-0",namespace="team-a"} 29
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",Hostname="node-a"} 0
`

for (const kind of kinds) {
  it(`${kind} stand in their registry by type`, () => {
    assert.deepEqual(
      Object.keys(allComponents[kind]),
      registries[kind].map(({ type }) => type),
    )
  })

  for (const definition of registries[kind]) {
    describe(`${kind.slice(0, -1)} ${definition.type}`, () => {
      it('is named as components are', () => {
        assert.match(definition.type, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/)
        assert.match(definition.summary, /^[A-Z].*\.$/)
        if (kind === 'extensions') return
        const hyphens = definition.type.replaceAll('_', '-')
        const camel = definition.type.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
        const places = [`${folders[kind]}/${hyphens}.ts`, `${folders[kind]}/${hyphens}/${hyphens}.ts`]
        const file = places.find(place => existsSync(join(root, place)))
        assert.ok(file !== undefined, `none of ${places.join(', ')} exists`)
        assert.match(readFileSync(join(root, file), 'utf8'), new RegExp(`export const ${camel} =`))
      })

      it('describes every option', () => {
        assert.deepEqual(undescribed(definition.config, ''), [])
      })

      it('has an example that is valid and stands in the reference', async () => {
        await load(kind, definition.type, definition.example)
        const reference = readFileSync(join(root, 'configs/reference.md'), 'utf8')
        assert.ok(reference.includes(`\`${definition.type}\``), 'it is not in configs/reference.md')
      })

      it('refuses an option that it does not have', async () => {
        await assert.rejects(
          load(kind, definition.type, { ...(definition.example as object), no_such_option: 1 }),
          (error: unknown) => error instanceof ConfigError && error.message.includes('no_such_option'),
        )
      })

      it('opens nothing by being created, and can be stopped without a start, and twice', async () => {
        const { component, host } = await create(kind, definition.type, () => {})
        await component.stop?.(0)
        await component.stop?.(0)
        assert.deepEqual([...host.network.requests], [])
      })

      if (kind === 'processors' || kind === 'exporters') {
        it('writes into nothing that it was given', async () => {
          const { component } = await create(kind, definition.type, () => {})
          const batch = deepFreeze(batchFromText(TEXT))
          const before = batch.values.slice()
          component.consume!(batch)
          component.consume!(endBatch(batch.source, 1, 'failed'))
          component.consume!(batch)
          component.consume!(endBatch(batch.source, 2, 'removed'))
          assert.deepEqual(batch.values, before)
          await component.stop?.(0)
        })
      }

      if (kind === 'processors') {
        it('passes on that nobody takes its batch', async () => {
          const { component } = await create(kind, definition.type, () => {
            throw new RefusedError('full')
          })
          assert.throws(() => component.consume!(batchFromText(TEXT)), RefusedError)
          await component.stop?.(0)
        })
      }

      // One that listens hands on nothing by itself.
      if (kind === 'receivers' && definition.listens === undefined) {
        it('goes on when nobody takes its batches', async () => {
          let refused = 0
          const { component, host } = await create(kind, definition.type, () => {
            refused++
            throw new RefusedError('full')
          })
          await component.start?.()
          await host.clock.advance(120_000)
          await component.stop?.(host.clock.monotonic() + 1000)
          assert.ok(refused > 0, 'it handed on nothing, so this shows nothing')
        })
      }
    })
  }
}

type Component = { consume?(batch: Batch): void; start?(): unknown; stop?(deadlineMs: number): unknown }

async function create(kind: Kind, type: string, next: (batch: Batch) => void) {
  const loaded = await load(kind, type, registries[kind].find(definition => definition.type === type)!.example)
  const { definition, config } = loaded[kind].get(type)!
  const host = testHost({ id: type })
  const service = {
    version: '0',
    state: () => 'running',
    components: () => [],
    targets: () => new Map(),
    reload: () => Promise.resolve({ ok: true, changed: [] }),
  } satisfies ExtensionHost['service']
  const make = definition.create as (config: unknown, host: ExtensionHost, next: (batch: Batch) => void) => Component
  return { component: make(config, { ...host, service } as ExtensionHost, next), host }
}

/** A whole config around one component. */
async function load(kind: Kind, type: string, example: unknown) {
  const parts: Record<Kind, Record<string, unknown>> = {
    receivers: { [receivers[0]!.type]: receivers[0]!.example },
    processors: {},
    exporters: { debug: {} },
    extensions: {},
  }
  parts[kind] = { [type]: example }
  const pipeline = {
    receivers: Object.keys(parts.receivers),
    processors: Object.keys(parts.processors),
    exporters: Object.keys(parts.exporters),
  }
  const config = { ...parts, service: { extensions: Object.keys(parts.extensions), pipelines: { metrics: pipeline } } }
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  try {
    const file = join(folder, 'config.yaml')
    writeFileSync(file, stringify(config))
    return await loadConfig({ files: [file], set: [], registries, env: {} })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Paths of the options without a description, however deep. */
function undescribed(schema: unknown, path: string): string[] {
  const { properties = {}, items } = schema as { properties?: Record<string, unknown>; items?: unknown }
  const own = Object.entries(properties).flatMap(([name, option]) => {
    const { description } = option as { description?: string }
    return [...(description ? [] : [`${path}${name}`]), ...undescribed(option, `${path}${name}.`)]
  })
  return items === undefined ? own : [...own, ...undescribed(items, `${path}[].`)]
}
