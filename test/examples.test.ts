/** Every example config is valid, runs and has a test, and tests beside configs pass. The demo also runs for real, in test/e2e. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parse } from 'yaml'
import { loadConfig } from '../pipeline/config/loaded-config.ts'
import { createService } from '../pipeline/graph/service.ts'
import { createLog } from '../pipeline/telemetry/log.ts'
import { describeSuites } from './support/describe-suites.ts'
import { testHost } from './support/test-host.ts'
import { registries } from './support/all-components.ts'

const root = join(import.meta.dirname, '..')
const suites = globSync('configs/**/*.test.yaml', { cwd: root })
  .sort()
  .map(file => relative('.', join(root, file)))

describe('example configs', () => {
  for (const file of globSync('configs/examples/*.yaml', { cwd: root })) {
    describe(file, () => {
      it('begins with the situation it serves, and a schema for editors', () => {
        const lines = readFileSync(join(root, file), 'utf8').split('\n')
        assert.match(lines[0]!, /^# [A-Z]/)
        assert.ok(lines.includes('# yaml-language-server: $schema=../schema.json'))
      })

      it('has a test of its own', () => {
        const path = join(root, 'configs/examples/tests', `${basename(file, '.yaml')}.test.yaml`)
        const { config, tests } = parse(readFileSync(path, 'utf8')) as { config: unknown; tests: unknown[] }
        assert.equal(config, `../${basename(file)}`)
        assert.ok(tests.length > 0)
      })

      it('is valid without a warning, starts, runs for a minute and stops', async () => {
        const config = await loadConfig({ files: [join(root, file)], set: [], registries, env: {} })
        assert.deepEqual(config.warnings, [])
        const lines: string[] = []
        const host = testHost()
        const log = createLog({
          level: 'info',
          encoding: 'console',
          write: line => lines.push(line),
          now: host.clock.now,
        })
        const service = createService(
          config,
          { ...host, version: '0', log, counters: () => host.counters, reloaded() {} },
          () => Promise.resolve(config),
        )
        await service.start()
        await host.clock.advance(60_000)
        const stopped = service.stop(host.clock.monotonic() + 1000)
        await host.clock.advance(2000)
        await stopped
        assert.deepEqual(
          lines.filter(line => line.includes('  error  ')),
          [],
        )
      })
    })
  }
})

await describeSuites('tests beside configs', suites, 5)
