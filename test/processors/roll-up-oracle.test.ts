/**
 * The timeline of a made-up cluster, with the numbers that an independent engine computed: from kube-state-metrics alone, from the
 * Kubernetes API alone, and from both at once.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { createSystemClock } from '../../pipeline/clock/system-clock.ts'
import { formatProblems } from '../../pipeline/config/config-error.ts'
import { textReport } from '../../pipeline/config-tests/report-text.ts'
import { isOk } from '../../pipeline/config-tests/report.ts'
import { loadSuites, runSuites } from '../../pipeline/config-tests/run-suites.ts'
import { sharedPath } from '../support/shared.ts'
import { registries } from '../support/all-components.ts'

const folder = sharedPath('conformance', 'oracle')

if (folder !== undefined) {
  describe('roll-ups on a timeline', function () {
    this.timeout(30_000)
    let scratch: string
    before(() => (scratch = mkdtempSync(join(tmpdir(), 'gpucol-'))))
    after(() => rmSync(scratch, { recursive: true }))

    it('are the expected ones from kube-state-metrics', () => check(join(folder, 'ksm/test.yaml')))
    it('are the expected ones from the Kubernetes API', () => check(join(folder, 'api/test.yaml')))
    it('are the same where both tell of one cluster', () => {
      const { config, tests } = unionOf(read(join(folder, 'api/test.yaml')), read(join(folder, 'ksm/test.yaml')))
      writeFileSync(join(scratch, 'config.yaml'), stringify(config))
      writeFileSync(join(scratch, 'test.yaml'), stringify({ config: 'config.yaml', tests }))
      return check(join(scratch, 'test.yaml'))
    })
  })
}

async function check(file: string): Promise<void> {
  const { tests, problems } = await loadSuites([file], {
    registries,
    env: {},
  })
  assert.equal(formatProblems(problems), '')
  assert.ok(tests.length > 0)
  const { tests: reports } = await runSuites(tests, { version: 'test', clock: createSystemClock() })
  for (const report of reports) assert.ok(isOk(report), `\n${textReport(report, true)}`)
}

type Place = { file: string }
type Step = { at: string; answers?: Record<string, Place>; objects?: Place; expect?: Place[] }
type Config = { receivers: object; service: { pipelines: { metrics: { receivers: string[] } } } }
type Suite = { config: Config; tests: { name: string; start: string; steps: Step[] }[] }

/** A suite with its config in it, and paths that are right wherever it is. */
function read(path: string): Suite {
  const folder = dirname(path)
  const suite = parse(readFileSync(path, 'utf8')) as Omit<Suite, 'config'> & { config: string }
  const whole = (place: Place): Place => ({ ...place, file: join(folder, place.file) })
  return {
    config: parse(readFileSync(join(folder, suite.config), 'utf8')) as Config,
    tests: suite.tests.map(test => ({
      ...test,
      steps: test.steps.map(({ answers = {}, objects, expect = [], ...step }) => ({
        ...step,
        answers: Object.fromEntries(Object.entries(answers).map(([url, place]) => [url, whole(place)])),
        ...(objects && { objects: whole(objects) }),
        expect: expect.map(whole),
      })),
    })),
  }
}

/** What the second suite answers besides, at the same steps, and its receivers. */
function unionOf(one: Suite, other: Suite): Suite {
  const config = {
    ...one.config,
    receivers: { ...other.config.receivers, ...one.config.receivers },
    service: {
      pipelines: {
        metrics: {
          ...one.config.service.pipelines.metrics,
          receivers: [
            ...new Set([
              ...one.config.service.pipelines.metrics.receivers,
              ...other.config.service.pipelines.metrics.receivers,
            ]),
          ],
        },
      },
    },
  }
  return {
    config,
    tests: one.tests.map((test, i) => ({
      ...test,
      steps: test.steps.map((step, at) => {
        const also = other.tests[i]!.steps[at]!
        assert.equal(also.at, step.at)
        return { ...step, answers: { ...also.answers, ...step.answers } }
      }),
    })),
  }
}
