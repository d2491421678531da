import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DiscoveredTarget } from '../../../../receivers/scraping/discovery/discovery.ts'
import { checkFileSd, createFileDiscovery } from '../../../../receivers/scraping/discovery/file-sd.ts'
import { testHost } from '../../../support/test-host.ts'

describe('targets from files', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gpucol-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)

  function discover(pattern = '*.yml', refresh_interval = '5m') {
    const host = testHost()
    const updates: (readonly DiscoveredTarget[])[] = []
    const discovery = createFileDiscovery({ files: [join(folder, pattern)], refresh_interval }, host)
    discovery.start(targets => updates.push(targets))
    const addresses = (): string[][] =>
      updates.splice(0).map(targets => targets.map(({ labels }) => labels.get('__address__')!))
    return { host, discovery, updates, addresses, said: () => host.logged.join('\n').replaceAll(`${folder}/`, '') }
  }

  it('are read as Prometheus reads them, from YAML and JSON', () => {
    write(
      'a.yml',
      '- targets: [10.0.0.1:9400, 10.0.0.2:9400]\n  labels: { rack: 7, __scheme__: https }\n- targets: [b]\n',
    )
    write('b.yml', '')
    const { updates } = discover()
    assert.equal(updates.length, 1)
    const meta = { __meta_filepath: join(folder, 'a.yml') }
    assert.deepEqual(
      updates[0]!.map(({ labels }) => Object.fromEntries(labels)),
      [
        { __address__: '10.0.0.1:9400', rack: '7', __scheme__: 'https', ...meta },
        { __address__: '10.0.0.2:9400', rack: '7', __scheme__: 'https', ...meta },
        { __address__: 'b', ...meta },
      ],
    )
    write('c.json', '[{"targets":["c:1"],"labels":{"x":"y"}}]')
    assert.deepEqual(discover('*.json').addresses(), [['c:1']])
  })

  it('are read again when a file is written, replaced, added or removed', async () => {
    write('a.yml', '- targets: [a]')
    const { host, addresses } = discover()
    assert.deepEqual(addresses(), [['a']])
    await host.clock.advance(20_000)
    assert.deepEqual(addresses(), [])
    write('a.yml', '- targets: [a, a2]')
    await host.clock.advance(5000)
    assert.deepEqual(addresses(), [['a', 'a2']])
    write('b.yml', '- targets: [b]')
    await host.clock.advance(5000)
    assert.deepEqual(addresses(), [['a', 'a2', 'b']])
    write('new', '- targets: [c]')
    renameSync(join(folder, 'new'), join(folder, 'b.yml'))
    await host.clock.advance(5000)
    assert.deepEqual(addresses(), [['a', 'a2', 'c']])
    rmSync(join(folder, 'a.yml'))
    await host.clock.advance(5000)
    assert.deepEqual(addresses(), [['c']])
  })

  it('are the same objects where they did not change', async () => {
    write('a.yml', '- targets: [a, b]')
    const { host, updates } = discover()
    write('a.yml', '- targets: [b, c]')
    await host.clock.advance(5000)
    assert.equal(updates[1]![0], updates[0]![1])
    write('a.yml', '- targets: [b, c] # again')
    await host.clock.advance(5000)
    assert.equal(updates.length, 2)
  })

  const mistakes: [text: string, message: RegExp][] = [
    ['- targets: [', /a\.yml: the targets in it cannot be read: /],
    ['targets: [a]', /it is no list of target groups/],
    ['- [a]', /group 1 is no map/],
    ['- { targets: [a] }\n- { targets: a }', /`targets` of group 2 is no list/],
    ['- { targets: [[a]] }', /a target of group 1 is no text/],
    ['- { targets: [a], labels: [b] }', /`labels` of group 1 is no map/],
    ['- { targets: [a], labels: { b: [] } }', /label b of group 1 is no text/],
    ['- { targets: [a], label: {} }', /group 1 has an unknown key "label"/],
  ]
  for (const [text, message] of mistakes) {
    it(`stay as they were while a file says ${JSON.stringify(text)}`, async () => {
      write('a.yml', '- targets: [a]')
      const { host, addresses, said } = discover()
      addresses()
      write('a.yml', text)
      await host.clock.advance(60_000)
      assert.deepEqual(addresses(), [])
      assert.match(said(), message)
      assert.equal(host.logged.length, 1)
      write('a.yml', '- targets: [b]')
      await host.clock.advance(5000)
      assert.deepEqual(addresses(), [['b']])
      assert.match(said(), /^ok a\.yml$/m)
    })
  }

  it('may come later', async () => {
    const { host, addresses, said } = discover()
    assert.deepEqual(addresses(), [[]])
    assert.match(said(), /no file with targets is there yet/)
    write('a.yml', '- targets: [a]')
    await host.clock.advance(5000)
    assert.deepEqual(addresses(), [['a']])
  })

  it('are looked for as often as told, and not after the end', async () => {
    const { host, discovery, addresses } = discover('*.yml', '1s')
    addresses()
    write('a.yml', '- targets: [a]')
    await host.clock.advance(1000)
    assert.deepEqual(addresses(), [['a']])
    discovery.stop()
    discovery.stop()
    write('a.yml', '- targets: [a, b]')
    await host.clock.advance(60_000)
    assert.deepEqual(addresses(), [])
  })

  it('are in files whose names say how they are written', () => {
    const problems = checkFileSd({ files: ['a.yaml', 'b.txt', 'c/*.json', 'd'], refresh_interval: '5m' })
    assert.deepEqual(
      problems.map(({ path }) => path),
      [
        ['files', 1],
        ['files', 3],
      ],
    )
  })
})
