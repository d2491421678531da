/** The configs in `test/configs`, with the components there really are. A bad file says in its first lines what must be found. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate } from '../pipeline/commands/validate.ts'
import { ConfigError, type ConfigProblem } from '../pipeline/config/config-error.ts'
import { loadConfig } from '../pipeline/config/loaded-config.ts'
import { resultOf } from './support/run-command.ts'
import { loadComponents } from './support/all-components.ts'

const folder = join(import.meta.dirname, 'configs')

async function problemsIn(path: string): Promise<readonly ConfigProblem[]> {
  try {
    return (await loadConfig({ files: [path], set: [], registries: loadComponents, env: {} })).warnings
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** `line:column: message (did you mean ...)`, with the file where it is another one, as the files themselves write it. */
function lineOf(
  { file, line, column, message, suggestion, severity }: ConfigProblem,
  path: string,
  base: string,
): string {
  const prefix = file === path ? '' : `${file.replace(`${base}/`, '')}:`
  const meant = suggestion === undefined ? '' : ` (did you mean \`${suggestion}\`?)`
  return `${prefix}${line}:${column}: ${severity === 'warning' ? 'warning: ' : ''}${message.replaceAll(`${base}/`, '')}${meant}`
}

function remarks(text: string, word: string): string[] {
  return Array.from(text.matchAll(new RegExp(`^# ${word}: (.*)$`, 'gm')), ([, remark]) => remark!)
}

function filesIn(kind: 'good' | 'bad'): string[] {
  return readdirSync(join(folder, kind)).filter(name => name.endsWith('.yaml'))
}

describe('configs', () => {
  for (const name of filesIn('good'))
    it(`good/${name} is good`, async () => {
      const path = join(folder, 'good', name)
      const found = (await problemsIn(path)).map(problem => lineOf(problem, path, join(folder, 'good')))
      assert.deepEqual(
        found,
        remarks(readFileSync(path, 'utf8'), 'warns').map(remark => remark.replace(': ', ': warning: ')),
      )
    })

  for (const name of filesIn('bad'))
    it(`bad/${name} is refused for the right reasons`, async () => {
      const path = join(folder, 'bad', name)
      const text = readFileSync(path, 'utf8')
      const expected = remarks(text, 'expect')
      assert.notEqual(expected.length, 0, 'the file does not say what is wrong with it')
      const found = (await problemsIn(path)).map(problem => lineOf(problem, path, join(folder, 'bad')))
      // The messages of components may go on; ours are compared to the end.
      const surplus = found.filter(line => !expected.some(start => line.startsWith(start)))
      const missing = expected.filter(start => !found.some(line => line.startsWith(start)))
      assert.deepEqual({ surplus, missing }, { surplus: [], missing: [] })

      const { code, out, err } = await resultOf(validate, ['--config', path], { registries: loadComponents })
      assert.deepEqual([code, out], [2, ''])
      for (const line of expected) assert.ok(err.includes(`:${/\d+:\d+/.exec(line)![0]}: `), err)
      for (const shown of remarks(text, 'shows')) assert.ok(err.includes(shown), err)
      for (const hidden of remarks(text, 'never')) assert.ok(!err.includes(hidden), err)
    })
})

describe('what is no config at all', () => {
  let scratch: string
  before(() => (scratch = mkdtempSync(join(tmpdir(), 'gpucol-'))))
  after(() => rmSync(scratch, { recursive: true }))

  const cases: [string, (path: string) => void, string][] = [
    ['a missing file', () => {}, 'cannot be read: no such file'],
    [
      'a file of 50 MB',
      path => (writeFileSync(path, 'a: 1\n'), truncateSync(path, 50_000_000)),
      'the file is larger than 4 MiB',
    ],
    ['a file that is no text', path => writeFileSync(path, Buffer.from([0x80, 0x81])), 'the file is not text in UTF-8'],
  ]
  for (const [name, make, message] of cases)
    it(`${name} is refused with 2 and a clear message`, async () => {
      const path = join(scratch, 'config.yaml')
      rmSync(path, { force: true })
      make(path)
      const { code, out, err } = await resultOf(validate, ['--config', path], { registries: loadComponents })
      assert.deepEqual([code, out, err], [2, '', `${path}: ${message}\n1 error\n`])
    })

  it('a directory is refused with 2 and a clear message', async () => {
    const { code, err } = await resultOf(validate, ['--config', scratch], { registries: loadComponents })
    assert.deepEqual([code, err], [2, `${scratch}: cannot be read: this is a directory, not a file\n1 error\n`])
  })
})
