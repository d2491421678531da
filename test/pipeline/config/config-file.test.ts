import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_FILE_BYTES, readConfigFile, readFileFromDisk } from '../../../pipeline/config/config-file.ts'

describe('readConfigFile', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'gpucol-'))))
  after(() => rmSync(folder, { recursive: true }))

  const read = (name: string) => readConfigFile(join(folder, name), readFileFromDisk)

  function write(name: string, content: string | Uint8Array): string {
    writeFileSync(join(folder, name), content)
    return name
  }

  it('reads text, without a byte order mark', () => {
    assert.deepEqual(read(write('a.yaml', '\uFEFFgrüße: 1\n')), { text: 'grüße: 1\n' })
    assert.deepEqual(read(write('empty.yaml', '')), { text: '' })
  })

  it('reads up to the limit, and says what is too large without reading it', () => {
    assert.equal('text' in read(write('most.yaml', Buffer.alloc(MAX_FILE_BYTES, '#'))), true)
    assert.deepEqual(read(write('more.yaml', Buffer.alloc(MAX_FILE_BYTES + 1, '#'))), {
      problem: 'the file is larger than 4 MiB',
    })
    // Sparse: a terabyte that takes no room, and would take minutes to read.
    truncateSync(join(folder, write('huge.yaml', '')), 2 ** 40)
    assert.deepEqual(read('huge.yaml'), { problem: 'the file is larger than 4 MiB' })
  })

  it('says why a file cannot be read', () => {
    assert.deepEqual(read('nope.yaml'), { problem: 'cannot be read: no such file' })
    assert.deepEqual(read('.'), { problem: 'cannot be read: this is a directory, not a file' })
    write('a.yaml', '')
    assert.deepEqual(read('a.yaml/b'), {
      problem: 'cannot be read: no such file: a part of the path is not a directory',
    })
    const denied = () => {
      throw Object.assign(new Error('EACCES'), { code: 'EACCES' })
    }
    assert.deepEqual(readConfigFile('x', denied), { problem: 'cannot be read: no permission to read it' })
  })

  it('reads what has no size, such as a pipe, up to the limit', () => {
    assert.deepEqual(readConfigFile('/dev/zero', readFileFromDisk), { problem: 'the file is larger than 4 MiB' })
  })
})
