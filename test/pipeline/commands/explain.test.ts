import assert from 'node:assert/strict'
import { explain } from '../../../pipeline/commands/explain.ts'
import type { Extension } from '../../../pipeline/component.ts'
import { web } from '../../../pipeline/server/web.ts'
import { podNamed, putPod } from '../../support/cluster-objects.ts'
import { resultOf, type CommandResult } from '../../support/run-command.ts'
import { serviceHost } from '../server/service-host.ts'

describe('gpucol explain', () => {
  let host: ReturnType<typeof serviceHost>
  let extension: Extension
  const run = (...args: string[]): Promise<CommandResult> =>
    resultOf(explain, [...args, '--address', host.addresses[0]!])

  before(async () => {
    host = serviceHost({})
    extension = web.create({ endpoint: '127.0.0.1:0' }, host)
    await extension.start!()
    for (const namespace of ['a', 'b']) putPod(host.cluster, podNamed('both', { namespace, uid: namespace }))
    putPod(host.cluster, podNamed('alone', { namespace: 'a' }))
  })
  after(() => extension.stop!(0))

  for (const [args, first] of [
    [['alone'], 'Pod a/alone'],
    [['both', '--namespace', 'b'], 'Pod b/both'],
    [['b/both'], 'Pod b/both'],
    [['b/both', '--namespace', 'b'], 'Pod b/both'],
  ] as const) {
    it(`prints the answer to ${args.join(' ')}`, async () => {
      const { code, out, err } = await run(...args)
      assert.deepEqual([code, err], [0, ''])
      assert.equal(out.split('\n')[0], first)
    })
  }

  it('prints JSON where that is asked for', async () => {
    const { code, out } = await run('alone', '--output', 'json')
    assert.equal(code, 0)
    assert.equal((JSON.parse(out) as { outcome: string }).outcome, 'found')
  })

  it('ends with 1 if the pod is not known, or could be several', async () => {
    for (const [name, message] of [
      ['nobody', /^Pod nobody is not known in any namespace\./],
      ['both', /^There are pods both in the namespaces a, b\./],
    ] as const) {
      const { code, out, err } = await run(name)
      assert.deepEqual([code, out], [1, ''])
      assert.match(err, message)
    }
  })

  it('ends with 1 if nobody answers, and says what may be the reason', async () => {
    const other = serviceHost({})
    const listener = await other.network.listen('127.0.0.1:0', () => {})
    await listener.close(0)
    const { code, out, err } = await resultOf(explain, ['alone', '--address', listener.address])
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /^gpucol explain: no answer from 127\.0\.0\.1:\d+: .*web in service\.extensions\?\n$/)
  })

  for (const [args, message] of [
    [[], 'the name of a pod is missing'],
    [['a', 'b'], 'unexpected argument "b"'],
    [['a/x', '--namespace', 'b'], 'the pod is said to be in namespace "a" and in "b"'],
    [['x', '--output', 'xml'], '--output: "xml" is neither text nor json'],
    [['x', '--address', 'http://a'], '--address: "http://a" is not HOST:PORT'],
  ] as const) {
    it(`refuses ${args.join(' ') || 'no arguments'}`, async () => {
      const { code, err } = await resultOf(explain, args)
      assert.equal(code, 2)
      assert.equal(err, `gpucol explain: ${message}\nSee gpucol explain --help.\n`)
    })
  }
})
