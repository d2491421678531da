import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogs } from '../../../pipeline/catalog/catalogs.ts'

describe('catalogs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
  after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'dcgm.yaml'), 'facts: { a: 1 }\n')
  writeFileSync(join(folder, 'broken.yaml'), 'facts: { a: 1\n')
  writeFileSync(join(folder, 'list.yaml'), '- a\n')
  mkdirSync(join(folder, 'folder.yaml'))
  const catalogs = createCatalogs(folder)

  it('are found by name and by path, and read once', () => {
    assert.deepEqual(catalogs.load('dcgm'), { facts: { a: 1 } })
    assert.equal(catalogs.load('dcgm'), catalogs.load('dcgm'))
    assert.deepEqual(catalogs.load(join(folder, 'dcgm.yaml')), { facts: { a: 1 } })
  })

  for (const [name, message] of [
    ['dgcm', /there is no catalog "dgcm"; there are .*dcgm/],
    ['./nowhere.yaml', /there is no catalog "\.\/nowhere\.yaml"/],
    ['broken', /broken\.yaml:2:1: /],
    ['list', /list\.yaml:1:1: a catalog is a map/],
    ['folder', /catalog "folder" cannot be read/],
  ] as const) {
    it(`say what is wrong with ${name}`, () => {
      assert.throws(() => catalogs.load(name), message)
    })
  }
})
