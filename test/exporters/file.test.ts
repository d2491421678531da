import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { file } from '../../exporters/file.ts'
import { Sink, type SinkOptions } from '../../exporters/file/sink.ts'
import type { Exporter } from '../../pipeline/component.ts'
import type { VirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { createVirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { batchFromText } from '../support/batch-from-text.ts'
import { configOf } from '../support/config-of.ts'
import { linesOf, type OtlpRequest } from '../support/otlp-judge.ts'
import { testHost, TEST_START_MS, type TestHost } from '../support/test-host.ts'

/** A clock as a running service has it: not that of config tests. */
function runningClock(): VirtualClock {
  const { aligned: _, ...clock } = createVirtualClock(TEST_START_MS)
  return clock as VirtualClock
}

describe('the file exporter', () => {
  let directory = ''
  let path = ''
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'gpucol-file-'))
    path = join(directory, 'metrics.json')
  })
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  async function startExporter(given: object = {}): Promise<{ host: TestHost; exporter: Exporter }> {
    const host = testHost({ clock: runningClock() }) as TestHost
    const exporter = file.create(configOf(file, { path, ...given }), host)
    await exporter.start?.()
    return { host, exporter }
  }

  function requestsIn(at = path): OtlpRequest[] {
    const text = readFileSync(at, 'utf8')
    assert.ok(text === '' || text.endsWith('\n'))
    return text
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as OtlpRequest)
  }

  it('writes a line of OTLP for what came in an interval', async () => {
    const { host, exporter } = await startExporter()
    exporter.consume(batchFromText('a{pod="p"} 1', { timeMs: 1000 }))
    await host.clock.advance(1000)
    await exporter.stop?.(0)
    assert.deepEqual(requestsIn().map(linesOf), [
      ['{k8s.pod.name=p, service.instance.id=test, service.name=gpucol} a gauge 1 @1'],
    ])
    assert.equal(host.counted.get('gpucol_exporter_sent_metric_points'), 1)
  })

  it('writes Prometheus text with timestamps', async () => {
    const { exporter } = await startExporter({ format: 'prometheus' })
    exporter.consume(batchFromText('# TYPE a gauge\na{pod="p"} 1', { timeMs: 1000 }))
    await exporter.stop?.(0)
    assert.equal(readFileSync(path, 'utf8'), '# TYPE a gauge\na{pod="p"} 1 1000\n')
  })

  it('appends to what is there', async () => {
    writeFileSync(path, '{"resourceMetrics":[]}\n')
    const { exporter } = await startExporter()
    exporter.consume(batchFromText('a 1'))
    await exporter.stop?.(0)
    assert.equal(requestsIn().length, 2)
  })

  it('writes what came before it was started', async () => {
    const host = testHost({ clock: runningClock() }) as TestHost
    const exporter = file.create(configOf(file, { path }), host)
    exporter.consume(batchFromText('a 1'))
    await exporter.start?.()
    await exporter.stop?.(0)
    assert.equal(requestsIn().length, 1)
  })

  it('says at the start which file cannot be written', async () => {
    const host = testHost({ clock: runningClock() }) as TestHost
    const exporter = file.create(configOf(file, { path: join(directory, 'none', 'x.json') }), host)
    await assert.rejects(async () => exporter.start?.(), /cannot write to ".*none\/x\.json": ENOENT/)
    await exporter.stop?.(0)
  })

  it('writes nothing in config tests', async () => {
    const host = testHost()
    const exporter = file.create(configOf(file, { path }), host)
    await exporter.start?.()
    exporter.consume(batchFromText('a 1'))
    await exporter.stop?.(0)
    assert.deepEqual(readdirSync(directory), [])
  })

  describe('its sink', () => {
    function sinkOf(options: Partial<SinkOptions> = {}) {
      const seen = { written: 0, lost: 0, states: [] as string[] }
      let nowMs = TEST_START_MS
      const sink = new Sink({
        path,
        rotation: undefined,
        maxWaitingBytes: 1000,
        now: () => nowMs,
        written: points => void (seen.written += points),
        lost: points => void (seen.lost += points),
        state: (state, why = '') => void seen.states.push(`${state} ${why}`.trim()),
        ...options,
      })
      const put = async (text: string) => {
        sink.add({ bytes: Buffer.from(text), points: 1 })
        await sink.flush()
      }
      return { sink, seen, put, wait: (ms: number) => void (nowMs += ms) }
    }
    const rotation = { maxBytes: 10, intervalMs: 3_600_000, maxBackups: 2, maxAgeMs: 86_400_000 }

    it('puts a file aside that would become too large, and keeps so many', async () => {
      const { sink, put, wait } = sinkOf({ rotation })
      await sink.open()
      for (const text of ['one\n', 'two\n', 'three\n', 'four\n', 'five-six-seven\n', 'eight\n']) {
        await put(text)
        wait(1000)
      }
      await sink.close()
      assert.deepEqual(readdirSync(directory).sort(), [
        'metrics-2023-11-14T22-13-24.000Z.json',
        'metrics-2023-11-14T22-13-25.000Z.json',
        'metrics.json',
      ])
      assert.equal(readFileSync(path, 'utf8'), 'eight\n')
      assert.equal(readFileSync(join(directory, 'metrics-2023-11-14T22-13-25.000Z.json'), 'utf8'), 'five-six-seven\n')
    })

    it('puts a file aside that is too old, and deletes those that are much older', async () => {
      const old = join(directory, 'metrics-2023-11-01T00-00-00.000Z.json')
      writeFileSync(old, 'x')
      writeFileSync(join(directory, 'metrics-of-others.json'), 'x')
      const { sink, put, wait } = sinkOf({ rotation: { ...rotation, maxBytes: 1000, maxBackups: 9 } })
      await sink.open()
      await put('one\n')
      wait(3_600_000)
      await put('two\n')
      await sink.close()
      assert.deepEqual(readdirSync(directory).sort(), [
        'metrics-2023-11-14T23-13-20.000Z.json',
        'metrics-of-others.json',
        'metrics.json',
      ])
    })

    it('goes on in a new file when somebody moved it away', async () => {
      const { sink, put } = sinkOf()
      await sink.open()
      await put('one\n')
      renameSync(path, join(directory, 'moved.json'))
      await put('two\n')
      await sink.close()
      assert.equal(readFileSync(path, 'utf8'), 'two\n')
    })

    it('keeps what cannot be written, says so, and writes it later', async () => {
      const { sink, seen, put } = sinkOf()
      await sink.open()
      rmSync(path)
      mkdirSync(path)
      await put('one\n')
      assert.deepEqual([seen.written, seen.lost], [0, 0])
      assert.match(seen.states.join(), /^failing cannot write to ".*metrics\.json": EISDIR/)
      rmSync(path, { recursive: true })
      await put('two\n')
      assert.deepEqual([seen.written, seen.lost, seen.states.at(-1)], [2, 0, 'ok'])
      await sink.close()
      assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\n')
    })

    it('gives up the oldest when too much waits, and all that waits in the end', async () => {
      const { sink, seen, put } = sinkOf({ maxWaitingBytes: 10 })
      await sink.open()
      rmSync(path)
      mkdirSync(path)
      for (const text of ['one\n', 'two\n', 'three\n']) await put(text)
      assert.equal(seen.lost, 1)
      await sink.close()
      assert.equal(seen.lost, 3)
    })
  })
})
