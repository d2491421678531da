import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  readdirSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../../pipeline/commands/migrate.ts'
import { resultOf, type CommandResult } from '../../support/run-command.ts'

const DASHBOARD = `{
  "panels": [
    {
      "targets": [
        { "expr": "sum by (job_name) (runai_job_requested_gpus{job_name=~\\"$job\\"}) \\u003e 1", "legendFormat": "{{ job_name }}" }
      ],
      "transformations": [{ "id": "organize", "options": { "renameByName": { "job_name": "Job" } } }],
      "fieldConfig": { "overrides": [{ "matcher": { "id": "byName", "options": "job_name" } }] }
    },
    { "datasource": { "type": "loki" }, "targets": [{ "expr": "{app=\\"x\\"} |= \\"runai_job_requested_gpus\\"" }] }
  ],
  "templating": { "list": [{
    "name": "job", "type": "query",
    "query": { "query": "label_values(runai_job_requested_gpus, job_name)", "refId": "A" },
    "definition": "label_values(runai_job_requested_gpus, job_name)"
  }] },
  "annotations": { "list": [{ "expr": "runai_job_total_runtime > 5", "titleFormat": "{{job_uuid}}", "tagKeys": "job_uuid,clusterId" }] }
}
`

const RULES = `# Rules of the team.
groups:
  - name: gpus
    rules:
      - record: team:gpus   # by job
        expr: sum by (job_name) (runai_job_requested_gpus)
      - alert: Idle
        expr: |
          # long idle
          max by (job_name) (runai_gpu_idle_time_per_workload)
            > 3600 and on (job_name) team:gpus > 0
        annotations: { summary: 'job {{ $labels.job_name }} is idle: {{ $value }}' }
      - alert: Gone
        expr: "runai_job_image{job_uuid='a'} == 1"
`

describe('gpucol migrate', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'gpucol-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  function file(name: string, content: string | Buffer): string {
    const path = join(folder, name)
    writeFileSync(path, content)
    return path
  }

  function run(...args: string[]): Promise<CommandResult> {
    return resultOf(migrate, ['--from', '2.16', '--to', '2.17', ...args])
  }

  it('rewrites a dashboard with its variables, legends, fields and annotations, and nothing else', async () => {
    const { code, out, err } = await run(file('a.json', DASHBOARD))
    const expected = DASHBOARD.replaceAll('(runai_job_requested_gpus', '(runai_requested_gpus_per_workload')
      .replaceAll('job_name', 'workload_name')
      .replaceAll('job_uuid', 'workload_id')
      .replace('runai_job_total_runtime', 'runai_run_time_seconds_per_workload')
    assert.deepEqual([code, out], [0, expected])
    assert.match(err, /a\.json:5:28: note: the result depends on the values of "job_name", and "workload_name"/)
    assert.match(err, /a\.json:14:26: note: variable "job" offers values of "workload_name" now, which are others/)
    assert.match(err, /a\.json: 3 expressions, 3 understood, 3 rewritten, 2 reported\n$/)
  })

  it('rewrites rules with comments and formatting kept, and follows what they record', async () => {
    const { code, out, err } = await run(file('a.yaml', RULES))
    const expected = RULES.replace('runai_job_requested_gpus', 'runai_requested_gpus_per_workload')
      .replace('runai_gpu_idle_time_per_workload', 'runai_gpu_idle_seconds_per_workload')
      .replaceAll('job_name', 'workload_name')
    assert.deepEqual([code, out], [0, expected])
    assert.match(err, /a\.yaml:14:16: left as it is: runai_job_image has no successor in runai-2\.17: /)
    assert.match(err, /a\.yaml: 3 expressions, 3 understood, 2 rewritten, 3 reported\n$/)
  })

  it('rewrites rules and dashboards that are texts of a manifest', async () => {
    const indent = (text: string): string => text.replace(/^/gm, '    ').trimEnd()
    const manifest = `kind: ConfigMap\ndata:\n  a.json: |\n${indent(DASHBOARD)}\n  rules.yaml: |\n${indent(RULES)}\n`
    const { code, out } = await run(file('a.yaml', manifest))
    assert.equal(code, 0)
    assert.match(out, /^ {10}.*runai_requested_gpus_per_workload\{workload_name=~\\"\$job\\"\}\) \\u003e 1/m)
    assert.match(out, /^ {14}max by \(workload_name\) \(runai_gpu_idle_seconds_per_workload\)$/m)
  })

  it('finds its way in every spelling of a text in YAML', async () => {
    const spellings = [
      'expr: sum(X) + sum(Y)',
      "expr: 'sum(X{a=''b''}) + sum(Y)' # note",
      'expr: "sum(X{a=\\"b\\"})\\n + \\\n    sum(Y)"',
      'expr: >-\n  sum(\n  X)\n  +\n\n  sum(Y)',
      'expr: >\n    sum(X)\n      + sum(Y)\n',
      'expr: |2-\n   sum(X)\n   + sum(Y)',
      'expr: sum(X)\n  + sum(Y)\n\n  + sum(X)',
      'expr: "sum(X)\n\n  + sum(Y)"',
      'a: { expr: sum(X) + sum(Y), b: 1 }',
      '- expr: &x sum(X)\n- expr: *x',
      'a: 1\n---\nexpr: sum(X)\r\n',
    ]
    for (const spelling of spellings) {
      const old = spelling.replaceAll('X', 'runai_job_requested_gpus').replaceAll('Y', 'runai_job_total_runtime')
      const { out, err } = await run(file('a.yaml', old))
      const renamed = spelling.replaceAll('X', 'runai_requested_gpus_per_workload')
      assert.equal(out, renamed.replaceAll('Y', 'runai_run_time_seconds_per_workload'), err)
    }
  })

  it('leaves a text that would need quotes, and says so', async () => {
    const text = `- { expr: kube_pod_container_resource_requests_cpu_cores > 5, for: 5m }\n- { expr: 'kube_hpa_metadata_generation' }\n`
    const { code, out, err } = await resultOf(migrate, [
      '--from',
      'kube-state-metrics-1',
      '--to',
      'kube-state-metrics-2',
      file('a.yaml', text),
    ])
    assert.deepEqual([code, out], [0, text.replace('kube_hpa', 'kube_horizontalpodautoscaler')])
    assert.match(err, /a.yaml:1:11: left as it is: .*in quotes it might/)
  })

  it('shows what changes, or only whether', async () => {
    const path = file('a.yaml', RULES)
    const { code, out } = await run('--diff', path)
    assert.equal(code, 0)
    assert.match(out, /^--- .*\n\+\+\+ .*\n@@ -3,12 \+3,12 @@\n/)
    assert.match(out, /^-        expr: sum by \(job_name\)/m)
    assert.match(out, /^\+        expr: sum by \(workload_name\)/m)
    assert.deepEqual([(await run('--check', path)).code, readFileSync(path, 'utf8')], [1, RULES])
    assert.equal((await run('--check', file('b.yaml', 'groups: []\n'))).code, 0)
    const short = await run('--diff', file('c.yaml', 'a:\nexpr: runai_job_total_runtime'))
    const marker = '\n\\ No newline at end of file\n'
    const [before, after] = ['-expr: runai_job_total_runtime', '+expr: runai_run_time_seconds_per_workload']
    assert.ok(short.out.endsWith(`\n a:\n${before}${marker}${after}${marker}`), short.out)
  })

  it('knows by the text what a file of any other name is', async () => {
    const texts = [
      '[{ "expr": "X" }]',
      '- alert: a\n  expr: X\n',
      '# a\ngroups:\n- rules: [{ expr: X }]\n',
      '[[a]] * X',
    ]
    for (const text of texts) {
      const { out } = await run(file('a.txt', text.replaceAll('X', 'runai_job_total_runtime')))
      assert.match(out, /runai_run_time_seconds_per_workload/, text)
    }
  })

  it('writes files in place, with their mode, through links, and leaves nothing beside them', async () => {
    const path = file('a.yaml', RULES)
    chmodSync(path, 0o640)
    symlinkSync(path, join(folder, 'link.yaml'))
    const { code, out } = await run('--in-place', join(folder, 'link.yaml'))
    assert.deepEqual([code, out, statSync(path).mode & 0o777], [0, '', 0o640])
    assert.match(readFileSync(path, 'utf8'), /workload_name/)
    assert.deepEqual(readdirSync(folder).toSorted(), ['a.yaml', 'link.yaml'])
    const back = await resultOf(migrate, ['--from', '2.17', '--to', '2.16', path])
    assert.equal(back.out, RULES)
  })

  it('refuses what it cannot read, with the place, and then writes nothing', async () => {
    const good = file('good.yaml', RULES)
    const cases: readonly (readonly [name: string, content: string | Buffer, message: RegExp])[] = [
      ['a.json', '{\n  "a": [1, }', /a\.json:2:12: this is no JSON: a value is expected, not "}"/],
      ['b.json', '{"a": "x', /b\.json:1:7: .*not closed/],
      ['c.yaml', 'a: [1\nb: 2\n', /c\.yaml:\d+:\d+: this is no YAML/],
      ['d.json', Buffer.from([0x7b, 0x0a, 0x00, 0xff]), /d\.json:2:1: this is no text/],
      ['e.json', '['.repeat(100_000), /e\.json:1:202: nested more than 200 levels deep/],
      ['f.yaml', `a: ${'['.repeat(100_000)}`, /f\.yaml:\d+:\d+: /],
      ['g.json', Buffer.alloc(50_000_000, ' '), /g\.json:1:1: 48 MiB are more than the 32 MiB/],
    ]
    for (const [name, content, message] of cases) {
      const { code, out, err } = await run('--in-place', good, file(name, content))
      assert.deepEqual([code, out], [2, ''], name)
      assert.match(err, message)
    }
    assert.match((await run(join(folder, 'none.json'))).err, /none\.json: cannot be read: ENOENT/)
    assert.equal(readFileSync(good, 'utf8'), RULES)
  })

  it('takes a list of expressions, and reports those of them that are none', async () => {
    const list = [
      'runai_job_requested_gpus',
      'sum(',
      '# a comment',
      '',
      'runai_job_total_runtime > 5',
      'up',
      'up',
    ].join('\n')
    const { out, err } = await run(file('list.txt', list))
    const expected = list.replace('job_requested_gpus', 'requested_gpus_per_workload')
    assert.equal(out, expected.replace('runai_job_total_runtime', 'runai_run_time_seconds_per_workload'))
    assert.match(err, /list\.txt:2:5: left as it is: this is not understood as PromQL\n/)
    assert.match(err, /list\.txt: 5 expressions, 4 understood, 2 rewritten, 1 reported\n$/)
  })

  it('finds nothing in files that hold nothing, and says that templates have to be filled in', async () => {
    for (const name of ['a.json', 'a.yaml', 'a.promql']) {
      const { code, out, err } = await run(file(name, '\n'))
      assert.deepEqual([code, out], [0, '\n'])
      assert.match(err, /: 0 expressions, 0 understood, 0 rewritten, 0 reported\n$/)
    }
    const { code, err } = await run(file('helm.yaml', '{{- if .Values.rules }}\ngroups: []\n{{- end }}\n'))
    assert.equal(code, 2)
    assert.match(err, /helm\.yaml:1:3: this is no YAML: .*; if this is a template, fill it in first/)
  })

  it('refuses wrong calls', async () => {
    assert.match((await resultOf(migrate, ['--to', '2.17', 'a'])).err, /--from NAMES is missing/)
    assert.match(
      (await resultOf(migrate, ['--from', '2.16', '--to', '4.9', 'a'])).err,
      /nothing leads from runai-2\.16/,
    )
    assert.match((await resultOf(migrate, ['--from', '2.16', '--to', '2.71', 'a'])).err, /there is no catalog "2\.71"/)
    assert.equal((await run('--in-place', '--check', 'a')).code, 2)
    assert.equal((await run('--in-place')).code, 2)
  })
})
