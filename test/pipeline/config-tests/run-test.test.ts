import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { CONFIG, runSteps, suiteFolder } from './suite-folder.ts'
import { broken, hold, podCounter, startCounter } from './test-components.ts'

const PASSED = { code: 0, out: 'ok it\n1 passed, 0 failed\n', err: '' }

describe('the order of things in a step', () => {
  it('answers of a first step at 0s are there when the pipeline starts', async () => {
    const steps = `
- at: 0s
  answers: { http://node-a:9400/metrics: { text: "a 1\\n" } }
  expect: [{ metrics: a, text: "a{job=\\"dcgm\\",instance=\\"node-a:9400\\"} 1 1704067200000\\n" }]`
    assert.deepEqual(await runSteps(steps), PASSED)
  })

  it('a first step later finds a pipeline that has been running without answers', async () => {
    const steps = `
- at: 5s
  answers: { http://node-a:9400/metrics: { text: "a 1\\n" } }
  expect: [{ absent: a }, { present: up, value: 0 }]
- at: 15s
  expect: [{ metrics: a|up, text: "a{job=\\"dcgm\\",instance=\\"node-a:9400\\"} 1 1704067215000\\nup{job=\\"dcgm\\",instance=\\"node-a:9400\\"} 1 1704067215000" }]`
    assert.deepEqual(await runSteps(steps), PASSED)
  })

  it('what is due before a step sees the answers of before, what is due at its moment the new ones', async () => {
    const steps = `
- at: 0s
  answers: { http://node-a:9400/metrics: { text: "a 1\\n" } }
- at: 29.999s
  answers: { http://node-a:9400/metrics: { text: "a 2\\n" } }
  expect: [{ present: a, value: 1 }]
- at: 45s
  answers: { http://node-a:9400/metrics: { text: "a 3\\n" } }
  expect: [{ present: a, value: 3 }]
- at: 59s
  answers: { http://node-a:9400/metrics: { text: "a 4\\n" } }
  expect: [{ present: a, value: 3 }]
- at: 60001ms
  answers: { http://node-a:9400/metrics: { text: "a 5\\n" } }
  expect: [{ present: a, value: 4 }]`
    assert.deepEqual(await runSteps(steps), PASSED)
  })

  it('watch events arrive before what is due at the moment of the step', async () => {
    const config = CONFIG.replaceAll('dcgm: { static_targets: [node-a] }', 'pod_counter: {}').replaceAll(
      '[dcgm]',
      '[pod_counter]',
    )
    const pod = (name: string): string => `{ apiVersion: v1, kind: Pod, metadata: { name: ${name} } }`
    const steps = `
- at: 0s
  objects: { text: "${pod('p')}" }
- at: 10s
  objects: { text: "${pod('p')}\\n---\\n${pod('q')}" }
  expect: [{ text: "pods 2" }]
- at: 19s
  objects: { text: "${pod('q')}" }
  expect: [{ text: "pods 2" }]
- at: 20s
  expect: [{ text: "pods 1" }]
- at: 30s
  objects: { text: "" }
  expect: [{ text: "pods 0" }]`
    assert.deepEqual(await runSteps(steps, { config, registries: { receivers: [podCounter] } }), PASSED)
  })

  it('processors hand on what they hold back, at every step', async () => {
    const processors = [hold]
    const head = 'processors: [{ hold: {} }]'
    const steps = `
- at: 0s
  input: { text: "a 1" }
  expect: [{ text: "held 1 1704067200000" }]
- at: 1500ms
  expect: [{ text: "held 0 1704067201500" }]`
    assert.deepEqual(await runSteps(steps, { head, registries: { processors } }), PASSED)
  })
})

describe('the state that is compared', () => {
  it('ends with a failed scrape, and with a successful one that lacks the series', async () => {
    const steps = `
- at: 0s
  answers: { http://node-a:9400/metrics: { text: "a 1\\nb 1\\n" } }
- at: 15s
  answers: { http://node-a:9400/metrics: { text: "b 1\\n" } }
  expect: [{ absent: a }, { present: b }]
- at: 30s
  answers: { http://node-a:9400/metrics: { error: refused } }
  expect: [{ absent: b }]`
    assert.deepEqual(await runSteps(steps), PASSED)
  })

  it('is that of all pipelines, or of one exporter', async () => {
    const config = `
receivers:
  dcgm: { static_targets: [node-a] }
  dcgm/b: { static_targets: [node-b] }
processors:
  relabel: { rules: [{ target_label: by, replacement: relabel }] }
exporters: { prometheus: {}, debug: {} }
service:
  pipelines:
    metrics: { receivers: [dcgm], exporters: [prometheus] }
    metrics/b: { receivers: [dcgm/b], processors: [relabel], exporters: [debug, prometheus] }
`
    const a = 'a{job=\\"dcgm\\",instance=\\"node-a:9400\\"} 1'
    const b = 'a{job=\\"dcgm/b\\",instance=\\"node-b:9400\\",by=\\"relabel\\"} 2'
    const steps = `
- at: 0s
  answers: { http://node-a:9400/metrics: { text: "a 1\\n" }, http://node-b:9400/metrics: { text: "a 2\\n" } }
  expect:
    - { metrics: a, text: "${a}\\n${b}" }
    - { metrics: a, exporter: debug, text: "${b}" }
    - { absent: 'a{job="dcgm"}', exporter: debug }
    - { present: 'a{job="dcgm"}', exporter: prometheus }`
    assert.deepEqual(await runSteps(steps, { config }), PASSED)
  })

  it('has one value for a series, or the test fails', async () => {
    const config = CONFIG.replace('[node-a]', '[node-a, node-b], honor_labels: true')
    const steps = `
- at: 0s
  answers:
    http://node-a:9400/metrics: { text: 'a{job="x",instance="y"} 1' }
    http://node-b:9400/metrics: { text: 'a{job="x",instance="y"} 2' }
  expect: [{ present: a }]`
    const { code, out } = await runSteps(steps, { config })
    assert.equal(code, 1)
    assert.match(out, /^different a\{instance="y",job="x"\}: expected one value, got two values, 1 and 2;/m)
  })
})

describe('processors under test', () => {
  it('get the input of each step, as one source', async () => {
    const head =
      'processors: [{ relabel: { rules: [{ action: labeldrop, regex: pod }] } }, { relabel/2: { rules: [{ target_label: by, replacement: "${env:WHO:-x}" }] } }]'
    const steps = `
- at: 0s
  input: { text: 'a{pod="p"} 1 7000' }
  expect: [{ text: 'a{by="x"} 1 7000' }]
- at: 1m
  expect: [{ text: 'a{by="x"} 1' }]
- at: 2m
  input: { text: 'b 2' }
  expect: [{ text: 'b{by="x"} 2' }]
- at: 3m
  input: { text: '' }
  expect: [{ text: '' }]`
    assert.deepEqual(await runSteps(steps, { head }), PASSED)
  })

  it('have their mistakes shown where the test file has them', async () => {
    const folder = suiteFolder({
      'test.yaml': `
processors:
  - relabel:
      rules:
        - { action: lowercsae, regex: pod }
  - relabl: {}
  - relabel: { ruels: [] }
tests:
  - name: it
    steps: [{ at: 0s, expect: [{ text: "" }] }]
  - name: that
    processors: [{ relabel: { rules: [{ action: labeldrop, regex: "a(" }] } }, { relabel/b: "\${env:NONE}" }]
    steps: [{ at: 0s, expect: [{ text: "" }] }]
`,
    })
    const { code, out, err } = await folder.run('test.yaml')
    folder.remove()
    assert.equal(code, 2)
    assert.equal(out, '')
    const heads = err.split('\n').filter(line => line.startsWith('test.yaml'))
    assert.deepEqual(
      heads.map(line => line.split(': ')[0]),
      ['test.yaml:5:21', 'test.yaml:6:5', 'test.yaml:7:5', 'test.yaml:12:67', 'test.yaml:12:94'],
    )
    assert.match(err, /unknown processor `relabl`\n.*\n.*\n {2}did you mean `relabel`\?/)
    assert.match(err, /a second `relabel`; give it a name, as in `relabel\/second`/)
    assert.match(err, /environment variable `NONE` is not set/)
  })
})

describe('the config under test', () => {
  it('may be several files, with values set, all relative to the test file', async () => {
    const folder = suiteFolder({
      'base.yaml': CONFIG,
      'more/over.yaml': 'receivers: { dcgm: { static_targets: ["${env:HOST}"] } }\n',
      'more/label.txt': 'from a file\n',
      'more/test.yaml': `
config: [../base.yaml, "\${env:OVER}.yaml"]
set: { exporters.prometheus.const_labels.text: "\${file:label.txt}", receivers.dcgm.scrape_interval: 1m }
tests:
  - name: it
    steps:
      - at: 0s
        answers: { "http://node-b:9400/metrics": { text: 'a{b="\${env:HOST}"} 1' } }
        expect: [{ present: 'a{b="\${env:HOST}",job="dcgm"}' }, { metrics: scrape_timeout_seconds, text: 'scrape_timeout_seconds{job="dcgm",instance="node-b:9400"} 10' }]
      - at: 59s
        answers: { "http://node-b:9400/metrics": { text: '' } }
        expect: [{ present: a }]
  - name: that
    set: { receivers.dcgm.scrape_interval: 30s }
    steps:
      - at: 0s
        answers: { "http://node-b:9400/metrics": { text: 'a 1' } }
      - at: 30s
        answers: { "http://node-b:9400/metrics": { text: 'a 2' } }
        expect: [{ present: a, value: 2 }]
`,
    })
    const ran = await folder.run('more/test.yaml', { env: { OVER: 'over', HOST: 'node-b' } })
    folder.remove()
    assert.deepEqual(ran, { code: 0, out: 'ok it\nok that\n2 passed, 0 failed\n', err: '' })
  })

  it('has its mistakes shown in its own file, and those of `set` and `exporter` in the test file, each once', async () => {
    const folder = suiteFolder({
      'config.yaml': CONFIG.replace('prometheus: {}', 'prometheus: {}\n  debug: { verbosty: basic }'),
      'test.yaml': `
config: config.yaml
set: { receivers.dcgm.scrape_interval: fast }
tests:
  - { name: it, steps: [{ at: 0s, expect: [{ text: "" }] }] }
  - { name: that, steps: [{ at: 0s, expect: [{ text: "" }] }] }
`,
      'exporter.yaml': `
tests:
  - config: good.yaml
    name: it
    steps: [{ at: 0s, expect: [{ text: "", exporter: prometeus }] }]
`,
      'good.yaml': CONFIG,
    })
    const { code, err } = await folder.run('test.yaml exporter.yaml')
    folder.remove()
    assert.equal(code, 2)
    assert.deepEqual(
      err.split('\n').filter(line => /^\S/.test(line) && !line.includes(' warning: ')),
      [
        'test.yaml:3:40: `scrape_interval` must be a duration such as 15s or 1h30m, found "fast"',
        'config.yaml:6:12: unknown key `verbosty` in `debug`',
        'exporter.yaml:5:54: no pipeline has an exporter `prometeus`; there are prometheus',
      ],
    )
  })

  it('logs at its own level', async () => {
    const steps = `
- at: 0s
  answers: { http://node-a:9400/metrics: { text: "a 1\\nb" } }
  expect: [{ log: skipped lines }]`
    const quiet = await runSteps(steps)
    assert.match(quiet.out, /^missing a log line that matches "skipped lines"; one line was logged/m)
    const config = `${CONFIG}  telemetry: { logs: { level: debug } }\n`
    assert.deepEqual(await runSteps(steps, { config }), PASSED)
  })
})

describe('the world of a test', () => {
  it('binds no address', async () => {
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    const config = CONFIG.replace(
      'prometheus: {}',
      `prometheus: { endpoint: 127.0.0.1:${(taken.address() as AddressInfo).port} }`,
    )
    const steps = '- { at: 0s, answers: { http://node-a:9400/metrics: { text: "" } }, expect: [{ present: up }] }'
    const ran = await runSteps(steps, { config })
    taken.close()
    assert.deepEqual(ran, PASSED)
  })

  it('has a store of its own, on disk where the config wants one, and nothing is left of it', async () => {
    const config = CONFIG.replace('dcgm: { static_targets: [node-a] }', 'start_counter: {}').replaceAll(
      '[dcgm]',
      '[start_counter]',
    )
    const folder = suiteFolder({
      'temporary/.keep': '',
      'memory.yaml': config,
      'disk.yaml': `${config}  storage: ./state\n`,
      'test.yaml': `
tests:
  - { name: disk, config: disk.yaml, steps: [{ at: 0s, expect: [{ text: "starts 1\\npersistent 1" }] }] }
  - { name: again, config: disk.yaml, steps: [{ at: 0s, expect: [{ text: "starts 1\\npersistent 1" }] }] }
  - { name: memory, config: memory.yaml, steps: [{ at: 0s, expect: [{ text: "starts 1\\npersistent 0" }] }] }
`,
    })
    const { TMPDIR: usual } = process.env
    process.env['TMPDIR'] = folder.path('temporary')
    const { out } = await folder.run('test.yaml', { registries: { receivers: [startCounter] } })
    if (usual === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = usual
    const left = readdirSync(folder.path('temporary'))
    folder.remove()
    assert.equal(out, 'ok disk\nok again\nok memory\n3 passed, 0 failed\n')
    assert.deepEqual(left, ['.keep'])
  })

  it('ends the test when a component breaks, and goes on with the next', async () => {
    const config = CONFIG.replace('dcgm: { static_targets: [node-a] }', 'broken: {}').replaceAll('[dcgm]', '[broken]')
    const folder = suiteFolder({
      'config.yaml': config,
      'test.yaml': `
config: config.yaml
tests:
  - { name: timer, steps: [{ at: 0s, expect: [{ text: "" }] }, { at: 30s }, { at: 40s }] }
  - { name: start, set: { receivers.broken.when: start }, steps: [{ at: 0s, expect: [{ text: "" }] }] }
  - { name: create, set: { receivers.broken.when: create }, steps: [{ at: 0s, expect: [{ text: "" }] }] }
  - { name: well, steps: [{ at: 0s, expect: [{ text: "" }] }] }
`,
    })
    const { code, out } = await folder.run('test.yaml', { registries: { receivers: [broken] } })
    folder.remove()
    assert.equal(code, 1)
    assert.equal(
      out,
      `FAIL test.yaml: timer at 30s
error: TypeError: what is this
FAIL test.yaml: start at 0s
error: cannot start: receiver broken: no engine
FAIL test.yaml: create at 0s
error: not even made
ok well
1 passed, 3 failed
`,
    )
  })

  it('warns of URLs that nobody answers or nobody asks for, and of an API that nobody asks', async () => {
    const steps = `
- at: 0s
  answers: { http://node-b:9400/metrics: { text: "" } }
  objects: { text: "{ apiVersion: v1, kind: Pod, metadata: { name: p } }" }
  expect: [{ present: up, value: 0 }]`
    const { code, err } = await runSteps(steps)
    assert.equal(code, 0)
    assert.deepEqual(
      err.split('\n').filter(line => /^\S/.test(line)),
      [
        'test.yaml:3:11: warning: http://node-a:9400/metrics was asked for, and no step of "it" answers it',
        'test.yaml:6:20: warning: nobody asked for http://node-b:9400/metrics in "it"',
        'test.yaml:7:9: warning: nobody asked the Kubernetes API in "it"',
      ],
    )
  })

  it('compares URLs by what they mean', async () => {
    const config = CONFIG.replace('[node-a]', '["http://node-a"]')
    const steps =
      '- { at: 0s, answers: { "http://NODE-A:80/metrics": { text: "" } }, expect: [{ present: up, value: 1 }] }'
    assert.deepEqual(await runSteps(steps, { config }), PASSED)
  })

  it('lets 24 hours of scrapes pass in seconds', async () => {
    const steps = `
- at: 0s
  answers: { http://node-a:9400/metrics: { text: "a 1\\n" } }
- at: 24h
  expect: [{ metrics: a, text: "a{job=\\"dcgm\\",instance=\\"node-a:9400\\"} 1 1704153600000\\n" }]`
    assert.deepEqual(await runSteps(steps), PASSED)
  })
})
