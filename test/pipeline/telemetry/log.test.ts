import assert from 'node:assert/strict'
import type { LogFields } from '../../../pipeline/component.ts'
import { createLog, LOG_LEVELS, type LogEncoding, type LogLevel } from '../../../pipeline/telemetry/log.ts'

const START_MS = Date.parse('2026-11-18T00:27:30.123Z')

function logInto(lines: string[], encoding: LogEncoding, level: LogLevel = 'debug', color = false) {
  return createLog({ level, encoding, write: line => lines.push(line), now: () => START_MS, color })
}

describe('log', () => {
  it('writes one readable line for people', () => {
    const lines: string[] = []
    const root = logInto(lines, 'console')
    root.info('collecting', { targets: 4 })
    root
      .child({ kind: 'receiver', id: 'dcgm' })
      .warn('slow target', { url: 'http://a:9400/metrics', tookMs: 12.5, again: true })
    root.child({ kind: 'processor', id: 'rename/legacy', pipeline: 'metrics' }).error('lost')
    assert.deepEqual(lines, [
      '2026-11-18T00:27:30.123Z  info   collecting  targets=4\n',
      '2026-11-18T00:27:30.123Z  warn   receiver dcgm  slow target  url=http://a:9400/metrics  tookMs=12.5  again=true\n',
      '2026-11-18T00:27:30.123Z  error  processor rename/legacy (metrics)  lost\n',
    ])
  })

  it('writes one object a line for programs', () => {
    const lines: string[] = []
    const root = logInto(lines, 'json')
    root
      .child({ kind: 'exporter', id: 'otlp_http/vendor' })
      .info('sent', { points: 3, bad: NaN, left: undefined, level: 'x' })
    root.debug('hello')
    assert.deepEqual(
      lines.map(line => JSON.parse(line)),
      [
        {
          ts: '2026-11-18T00:27:30.123Z',
          level: 'info',
          component: 'exporter otlp_http/vendor',
          message: 'sent',
          points: 3,
          bad: 'NaN',
          field_level: 'x',
        },
        { ts: '2026-11-18T00:27:30.123Z', level: 'debug', message: 'hello' },
      ],
    )
  })

  const values: [value: string | number | boolean | undefined, written: string][] = [
    ['plain', 'value=plain'],
    ['größe', 'value=größe'],
    ['', 'value=""'],
    ['two words', 'value="two words"'],
    ['a=b', 'value="a=b"'],
    ['say "x"', 'value="say \\"x\\""'],
    ['back\\slash', 'value="back\\\\slash"'],
    ['line\nbreak', 'value="line\\nbreak"'],
    ['\u001b[31mred', 'value="\\u001b[31mred"'],
    ['\u009b31m', 'value="\\u009b31m"'],
    ['\u2028', 'value="\\u2028"'],
    ['\u202eabc', 'value="\\u202eabc"'],
    ['\ud800', 'value="\\ud800"'],
    ['\u{e0041}', 'value="\\udb40\\udc41"'],
    [-0.5, 'value=-0.5'],
    [false, 'value=false'],
    [undefined, ''],
  ]
  for (const [value, written] of values) {
    it(`writes ${written || 'nothing for a value that is not there'}`, () => {
      const lines: string[] = []
      logInto(lines, 'console').info('message', { value })
      assert.equal(
        lines[0],
        ['2026-11-18T00:27:30.123Z', 'info ', 'message', ...(written ? [written] : [])].join('  ') + '\n',
      )
    })
  }

  for (const encoding of ['console', 'json'] as const) {
    it(`keeps every event in one line, whatever comes from outside, as ${encoding}`, () => {
      const lines: string[] = []
      const nasty = Array.from({ length: 0x2100 }, (_, code) => String.fromCharCode(code)).join('') + '\ud800 \udc00'
      const fields: LogFields = { [nasty]: nasty, ['__proto__']: 'an ordinary key' }
      const child = logInto(lines, encoding).child({ kind: 'receiver', id: nasty })
      child.info(nasty, fields)
      child.state(nasty, 'failing', nasty, fields)
      assert.equal(lines.length, 2)
      for (const line of lines) {
        assert.doesNotMatch(line.slice(0, -1), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        assert.ok(line.endsWith('\n'))
        if (encoding === 'console') continue
        const parsed = JSON.parse(line) as Record<string, unknown>
        assert.equal(parsed[nasty], nasty)
        assert.equal(Object.getOwnPropertyDescriptor(parsed, '__proto__')?.value, 'an ordinary key')
      }
    })
  }

  it('leaves out what is below its level, also after the level changed', () => {
    const lines: string[] = []
    const root = logInto(lines, 'json')
    const child = root.child({ kind: 'extension', id: 'web' })
    for (const [index, level] of LOG_LEVELS.entries()) {
      root.change({ level, encoding: 'json' })
      lines.length = 0
      for (const at of LOG_LEVELS) child[at](at)
      assert.deepEqual(
        lines.map(line => (JSON.parse(line) as { level: string }).level),
        LOG_LEVELS.slice(index),
      )
    }
    root.change({ level: 'error', encoding: 'console' })
    child.error('now in words')
    assert.equal(lines.at(-1), '2026-11-18T00:27:30.123Z  error  extension web  now in words\n')
  })

  it('colours the level only if told that a terminal reads', () => {
    const lines: string[] = []
    logInto(lines, 'console', 'info', true).warn('x')
    logInto(lines, 'json', 'info', true).warn('x')
    logInto(lines, 'console', 'info').warn('x')
    assert.deepEqual(
      lines.map(line => line.includes('\u001b[')),
      [true, false, false],
    )
  })

  it('says once that something fails and once that it is well again', () => {
    const lines: string[] = []
    const root = logInto(lines, 'console', 'info')
    const log = root.child({ kind: 'receiver', id: 'dcgm' })
    log.state('http://a', 'ok')
    log.state('http://c', 'gone')
    log.state('http://a', 'failing', 'connection refused', { attempt: 1 })
    log.state('http://a', 'failing', 'timed out')
    log.state('http://b', 'failing')
    assert.deepEqual(log.failing(), [
      { subject: 'http://a', message: 'timed out' },
      { subject: 'http://b', message: 'failing' },
    ])
    log.state('http://a', 'ok')
    log.state('http://a', 'ok')
    log.state('http://b', 'gone', 'no longer in the config')
    assert.deepEqual(log.failing(), [])
    log.state('http://a', 'failing', 'connection refused')
    assert.deepEqual(
      lines.map(line => line.slice('2026-11-18T00:27:30.123Z  '.length, -1)),
      [
        'warn   receiver dcgm  http://a is failing: connection refused  attempt=1',
        'warn   receiver dcgm  http://b is failing',
        'info   receiver dcgm  http://a is well again',
        'info   receiver dcgm  http://b is gone: no longer in the config',
        'warn   receiver dcgm  http://a is failing: connection refused',
      ],
    )
    assert.deepEqual(root.failing(), [])
  })

  it('knows what fails also where the level keeps it from saying so', () => {
    const lines: string[] = []
    const log = logInto(lines, 'console', 'error').child({ kind: 'exporter', id: 'x' })
    log.state('destination', 'failing', 'refused')
    assert.deepEqual(log.failing(), [{ subject: 'destination', message: 'refused' }])
    assert.deepEqual(lines, [])
  })
})
