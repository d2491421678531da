import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG, suiteFolder, type SuiteFolder } from '../config-tests/suite-folder.ts'

const FILES = {
  'config.yaml': CONFIG,
  'a.prom': 'a{gpu="0"} 1\na{gpu="1"} 2\n',
  'expected.prom':
    '# What node-a says.\na{gpu="0",instance="node-a:9400",job="dcgm"} 1\na{gpu="2",instance="node-a:9400",job="dcgm"} 2\npower 7\n',
  'test.yaml': `
config: config.yaml
tests:
  - name: a test that passes
    steps:
      - at: 0s
        answers: { http://node-a:9400/metrics: { file: a.prom } }
        expect: [{ present: a }]
  - name: a test that fails
    steps:
      - at: 0s
        answers: { http://node-a:9400/metrics: { file: a.prom } }
        expect: [{ metrics: a|power, file: expected.prom }]
      - at: 15s
        expect:
          - metrics: a|power
            file: expected.prom
          - metrics: up
            text: |
              up{instance="node-a:9400",job="dcgm"} 0
`,
  'other.yaml': 'config: config.yaml\ntests: [{ name: another, steps: [{ at: 0s, expect: [{ present: up }] }] }]\n',
  'bad.yaml': 'config: config.yaml\ntests: [{ name: it, steps: [{ at: 5s }, { at: 1s }] }]\n',
}

const FAILURE = `FAIL test.yaml: a test that fails at 0s
missing a{gpu="2",instance="node-a:9400",job="dcgm"} 2; the nearest has gpu="1" (expected.prom:3)
missing power 7; there is no power at all (expected.prom:4)
surplus a{gpu="1",instance="node-a:9400",job="dcgm"} 2 (test.yaml:13)
`

describe('gpucol test', () => {
  let folder: SuiteFolder
  beforeEach(() => {
    folder = suiteFolder(FILES)
  })
  afterEach(() => folder.remove())

  it('says what passes and what fails, and why, and counts over all files', async () => {
    const { code, out } = await folder.run('test.yaml other.yaml')
    assert.equal(code, 1)
    assert.equal(
      out,
      `ok a test that passes\n${FAILURE}(it fails at 15s, too; --verbose shows that)\nok another\n2 passed, 1 failed\n`,
    )
  })

  it('exits with 0 if all tests pass', async () => {
    const { code, out } = await folder.run('test.yaml --filter passes')
    assert.equal(code, 0)
    assert.equal(out, 'ok a test that passes\n1 passed, 0 failed\n')
  })

  it('exits with 2 and runs nothing if one of the files has a mistake', async () => {
    const { code, out, err } = await folder.run('test.yaml bad.yaml none.yaml')
    assert.equal(code, 2)
    assert.equal(out, '')
    assert.match(err, /^bad\.yaml:2:47: steps go forward: 1s is before the 5s of the step above$/m)
    assert.match(err, /^none\.yaml: cannot be read: no such file$/m)
  })

  const calls: [args: string, message: RegExp][] = [
    ['', /a FILE with tests is missing/],
    ['test.yaml --output xml', /--output is text or json, not "xml"/],
    ['test.yaml --filter (', /--filter is not a regular expression: .*missing closing \)/],
    ['test.yaml --filter nothing', /no test has a name that matches "nothing"/],
    ['test.yaml --updat', /unknown option --updat; did you mean --update\?/],
  ]
  for (const [args, message] of calls) {
    it(`refuses \`gpucol test ${args}\``, async () => {
      const { code, err } = await folder.run(args)
      assert.equal(code, 2)
      assert.match(err, message)
    })
  }

  it('lists tests without looking into their configs', async () => {
    const { code, out } = await folder.run('test.yaml other.yaml --list', { registries: { receivers: [] } })
    assert.equal(code, 0)
    assert.equal(
      out,
      'test.yaml: a test that passes (1 step)\ntest.yaml: a test that fails (2 steps)\nother.yaml: another (1 step)\n',
    )
    const json = await folder.run('other.yaml --list --output json')
    assert.deepEqual(JSON.parse(json.out), [{ file: 'other.yaml', name: 'another', steps: 1 }])
  })

  it('shows all failing steps and their logs when asked to', async () => {
    const { out } = await folder.run('test.yaml --filter fails --verbose')
    const heads = out.split('\n').filter(line => line.startsWith('FAIL'))
    assert.deepEqual(heads, ['FAIL test.yaml: a test that fails at 0s', 'FAIL test.yaml: a test that fails at 15s'])
    assert.match(out, /^different up\{instance="node-a:9400",job="dcgm"\}: expected 0, got 1 \(test\.yaml:20\)$/m)
    assert.match(out, /^log: 2024-01-01T00:00:00\.000Z {2}info/m)
  })

  it('says the same in JSON', async () => {
    const { code, out } = await folder.run('test.yaml --output json')
    assert.equal(code, 1)
    const report = JSON.parse(out) as { passed: number; failed: number; tests: Record<string, unknown>[] }
    assert.equal(report.passed, 1)
    assert.equal(report.failed, 1)
    const [passed, failed] = report.tests as [Record<string, unknown>, Record<string, unknown>]
    assert.equal(passed['ok'], true)
    assert.equal(failed['name'], 'a test that fails')
    const [step] = failed['steps'] as [{ at: string; ok: boolean; differences: unknown[] }]
    assert.equal(step.at, '0s')
    assert.equal(step.ok, false)
    assert.deepEqual(step.differences[0], {
      kind: 'missing',
      subject: 'a{gpu="2",instance="node-a:9400",job="dcgm"}',
      expected: '2',
      note: 'the nearest has gpu="1"',
      place: 'expected.prom:3',
    })
  })

  it('writes a JUnit report', async () => {
    await folder.run('test.yaml other.yaml --junit ./reports/junit.xml')
    const xml = folder
      .read('reports/junit.xml')
      .replaceAll(folder.path(''), '')
      .replaceAll(/time="[\d.]+"/g, 'time="0"')
    assert.match(
      xml,
      /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="gpucol test" tests="3" failures="1"/,
    )
    assert.match(xml, /<testsuite name="\/test\.yaml" tests="2" failures="1" errors="0" skipped="0" time="0">/)
    assert.match(xml, /<testcase name="a test that passes" classname="\/test\.yaml" time="0"\/>/)
    assert.match(xml, /<failure message="at 0s: missing a\{gpu=&quot;2&quot;,[^<]* \(and 2 more\)">/)
    assert.equal(xml.match(/<failure /g)?.length, 2)
  })

  it('rewrites expected files, keeps what holds, and shows what changed', async () => {
    const { code, out } = await folder.run('test.yaml --filter fails --update')
    assert.equal(code, 1)
    assert.equal(
      out,
      `FAIL test.yaml: a test that fails at 15s
different up{instance="node-a:9400",job="dcgm"}: expected 0, got 1 (test.yaml:20)
updated expected.prom
- a{gpu="2",instance="node-a:9400",job="dcgm"} 2
- power 7
+ a{gpu="1",instance="node-a:9400",job="dcgm"} 2
0 passed, 1 failed
`,
    )
    assert.equal(
      folder.read('expected.prom'),
      '# What node-a says.\na{gpu="0",instance="node-a:9400",job="dcgm"} 1\na{gpu="1",instance="node-a:9400",job="dcgm"} 2\n',
    )
    const again = await folder.run('test.yaml --filter fails --update')
    assert.doesNotMatch(again.out, /updated/)
  })

  it('writes what the exporters have at each step', async () => {
    await folder.run('test.yaml --write ./out')
    const files = globSync('**/*.prom', { cwd: folder.path('out') }).map(file => file.split('/').slice(1).join('/'))
    assert.deepEqual(files.sort(), [
      'a-test-that-fails/1-0s/prometheus.prom',
      'a-test-that-fails/2-15s/prometheus.prom',
      'a-test-that-passes/1-0s/prometheus.prom',
    ])
    const [first] = globSync('*/a-test-that-passes/1-0s/prometheus.prom', { cwd: folder.path('out') })
    assert.match(folder.read(join('out', first!)), /^a\{gpu="1",instance="node-a:9400",job="dcgm"\} 2$/m)
  })
})

describe('the outside suites in this format', () => {
  const suites = ['ksm', 'api'].map(name => join('../shared/conformance/oracle', name, 'test.yaml'))

  it('are read', async function () {
    if (!suites.every(file => existsSync(file))) {
      process.stdout.write('      ../shared/conformance/oracle is not there\n')
      return this.skip()
    }
    const folder = suiteFolder({})
    const { code, out, err } = await folder.run(`${suites.map(file => join(process.cwd(), file)).join(' ')} --list`)
    folder.remove()
    assert.equal(err, '')
    assert.equal(code, 0)
    assert.match(out, /^\S+ksm\/test\.yaml: every roll-up at every step \(21 steps\)\n\S+api\/test\.yaml: every /)
  })
})
