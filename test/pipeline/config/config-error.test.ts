import assert from 'node:assert/strict'
import {
  ConfigError,
  formatProblem,
  formatProblems,
  type ConfigProblem,
} from '../../../pipeline/config/config-error.ts'
import { problemsOf, withReceiver } from '../../support/load-text.ts'

const problem: ConfigProblem = {
  file: 'my.yaml',
  line: 7,
  column: 3,
  message: 'unknown key `x`',
  suggestion: 'y',
  severity: 'error',
  excerpt: { line: '\t x: 1', column: 3, length: 1 },
}

describe('formatProblem', () => {
  it('gives place, message, line, caret and what was probably meant', () => {
    assert.equal(formatProblem(problem), 'my.yaml:7:3: unknown key `x`\n  \t x: 1\n  \t ^\n  did you mean `y`?')
  })

  it('marks warnings', () => {
    assert.match(formatProblem({ ...problem, severity: 'warning' }), /^my.yaml:7:3: warning: unknown key/)
  })

  it('leaves out what there is not', () => {
    assert.equal(
      formatProblem({ file: 'my.yaml', message: 'no such file', severity: 'error' }),
      'my.yaml: no such file',
    )
  })

  it('cuts long lines around the place', async () => {
    const [found] = await problemsOf(
      withReceiver(`  pull: { targets: [${'"a", '.repeat(500)} 5, ${'"b", '.repeat(500)}] }`),
    )
    const [, line, caret] = formatProblem(found!).split('\n')
    assert.ok(line!.length < 200)
    assert.equal(line![caret!.indexOf('^')], '5')
  })
})

describe('ConfigError', () => {
  it('has all problems in its message', () => {
    const problems = [problem, { ...problem, line: 8 }]
    assert.equal(new ConfigError(problems).message, formatProblems(problems))
    assert.equal(new ConfigError(problems).message.split('\n').length, 8)
  })
})
