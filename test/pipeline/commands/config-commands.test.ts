import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { components } from '../../../pipeline/commands/components.ts'
import { printConfig } from '../../../pipeline/commands/print-config.ts'
import { schema } from '../../../pipeline/commands/schema.ts'
import { validate } from '../../../pipeline/commands/validate.ts'
import { resultOf } from '../../support/run-command.ts'

const good = `receivers: { pull: }
exporters: { push_http: { endpoint: http://a, token: "\${env:TOKEN}" } }
service: { pipelines: { metrics: { receivers: [pull], exporters: [push_http] } } }
`

describe('commands that read a config', () => {
  let folder: string
  let path: string
  const env = { TOKEN: 'hunter2' }

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    path = join(folder, 'config.yaml')
    writeFileSync(path, good)
    writeFileSync(
      join(folder, 'bad.yaml'),
      'receivers: { pull: { limit: x, intervall: 15s } }\nexporters: { serve: }\n',
    )
    writeFileSync(join(folder, 'unused.yaml'), 'extensions: { status: }\n')
  })
  after(() => rmSync(folder, { recursive: true }))

  describe('validate', () => {
    it('says in one line that all is well, and ends with 0', async () => {
      assert.deepEqual(await resultOf(validate, ['--config', path], { env }), {
        code: 0,
        out: `${path}: ok, 1 pipeline, 1 receiver, 0 processors, 1 exporter\n`,
        err: '',
      })
    })

    it('prints all mistakes of all files and ends with 2', async () => {
      const bad = join(folder, 'bad.yaml')
      const { code, out, err } = await resultOf(validate, ['--config', path, '--config', bad])
      assert.deepEqual([code, out], [2, ''])
      assert.deepEqual(
        err.split('\n').filter(line => /^\S/.test(line)),
        [
          `${path}:2:55: environment variable \`TOKEN\` is not set; give it a default: \`\${env:TOKEN:-default}\``,
          `${bad}:1:29: \`limit\` must be a whole number, found "x"`,
          `${bad}:1:32: unknown key \`intervall\` in \`pull\``,
          `${bad}:2:14: warning: exporter \`serve\` is defined, but used in no pipeline`,
          '3 errors, 1 warning',
        ],
      )
      assert.match(err, /\n {2}did you mean `interval`\?\n/)
    })

    it('prints warnings and ends with 0 nevertheless', async () => {
      const { code, out, err } = await resultOf(validate, ['--config', path, '--config', join(folder, 'unused.yaml')], {
        env,
      })
      assert.equal(code, 0)
      assert.match(out, /: ok, .*, 1 warning\n$/)
      assert.match(err, /^\S+unused.yaml:1:15: warning: extension `status` is defined/)
    })

    it('applies --set last', async () => {
      const { code, err } = await resultOf(validate, ['--config', path, '--set', 'receivers.pull.limit=x'], { env })
      assert.equal(code, 2)
      assert.match(err, /^--set receivers.pull.limit: `limit` must be a whole number, found "x"\n/)
    })
  })

  describe('print-config', () => {
    it('prints YAML on standard output', async () => {
      const { code, out, err } = await resultOf(printConfig, ['--config', path, '--set', 'receivers.pull.limit=5'], {
        env,
      })
      assert.deepEqual([code, err], [0, ''])
      assert.match(out, /^receivers:\n {2}pull:\n {4}limit: 5\nexporters:\n/)
      assert.match(out, /token: "\[redacted\]"/)
      assert.doesNotMatch(out, /encoding/)
    })

    it('adds defaults with --defaults', async () => {
      const { out } = await resultOf(printConfig, ['--config', path, '--defaults'], { env })
      assert.match(out, /\n {4}encoding: proto\n/)
      assert.match(out, /\n {6}address: 127.0.0.1:8888\n/)
    })

    it('prints a config with mistakes that do not prevent merging', async () => {
      const { code, out } = await resultOf(printConfig, ['--config', join(folder, 'bad.yaml')])
      assert.equal(code, 0)
      assert.match(out, /intervall: 15s/)
    })

    it('ends with 2 where files cannot be merged', async () => {
      const { code, out, err } = await resultOf(printConfig, ['--config', join(folder, 'nope.yaml')])
      assert.deepEqual([code, out], [2, ''])
      assert.match(err, /nope.yaml: cannot be read: no such file\n$/)
    })
  })
})

describe('components', () => {
  it('lists kind, type and summary in columns', async () => {
    const { code, out } = await resultOf(components, [])
    assert.equal(code, 0)
    assert.deepEqual(out.split('\n'), [
      'KIND       TYPE       SUMMARY',
      'receiver   pull       Pulls.',
      'receiver   listen     Is pushed to.',
      'processor  rewrite    Rewrites.',
      'exporter   push_http  Pushes.',
      'exporter   serve      Serves.',
      'extension  status     Tells how it is.',
      '',
    ])
  })

  it('lists them as JSON for programs', async () => {
    const { out } = await resultOf(components, ['--output', 'json'])
    const rows = JSON.parse(out) as unknown[]
    assert.deepEqual(rows[0], { kind: 'receiver', type: 'pull', aliases: ['puller'], summary: 'Pulls.' })
    assert.equal(rows.length, 6)
  })

  it('knows no other output', async () => {
    const { code, err } = await resultOf(components, ['--output', 'xml'])
    assert.equal(code, 2)
    assert.match(err, /--output must be table or json, found "xml"/)
  })
})

describe('schema', () => {
  it('prints the schema as JSON', async () => {
    const { code, out } = await resultOf(schema, [])
    assert.equal(code, 0)
    assert.equal((JSON.parse(out) as { title: string }).title, 'gpucol config')
  })
})
