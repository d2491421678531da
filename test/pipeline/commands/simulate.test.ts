import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand, type CommandContext } from '../../../pipeline/commands/command.ts'
import { simulate } from '../../../pipeline/commands/simulate.ts'
import { loadConfig } from '../../../pipeline/config/loaded-config.ts'
import { loadComponents } from '../../support/all-components.ts'

type Run = { readonly ended: Promise<number>; output(): string; until(text: RegExp): Promise<void>; interrupt(): void }

function start(...argv: string[]): Run {
  const abort = new AbortController()
  let text = ''
  let heard = (): void => {}
  const write = (more: string): void => {
    text += more
    heard()
  }
  const context: CommandContext = {
    registries: loadComponents,
    out: write,
    err: write,
    env: {},
    version: '0',
    signal: abort.signal,
    onHangup: () => () => {},
  }
  return {
    ended: runCommand(simulate, argv, context),
    output: () => text,
    until: pattern =>
      new Promise(resolve => {
        heard = () => {
          if (pattern.test(text)) resolve()
        }
        heard()
      }),
    interrupt: () => abort.abort(),
  }
}

describe('gpucol simulate', () => {
  it('serves a cluster until it is interrupted, says where, and what it cost', async () => {
    const run = start(
      '--listen',
      '127.0.0.1:0',
      '--nodes',
      '2',
      '--gpus-per-node',
      '4',
      '--generation',
      '4.9',
      '--shards',
      '2',
    )
    await run.until(/service:/)
    assert.match(run.output(), /^A simulated cluster of 2 nodes with 4 GPUs each \(seed 1\) is up, until Ctrl-C:\n/)
    const urls = run.output().match(/http:\/\/\S+/g)!
    const bodies = await Promise.all(urls.map(async url => (await fetch(url)).text()))
    assert.ok(bodies.some(body => body.includes('DCGM_FI_DEV_GPU_UTIL_RATIO{gpu="3"')))
    assert.ok(bodies.some(body => body.includes('kube_pod_info{')))
    run.interrupt()
    assert.equal(await run.ended, 0)
    assert.match(run.output(), /Served \d+ requests and \d+\.\d MB in \d+\.\d\d s of CPU, \d+\.\d\d ms per MB\.\n$/)
    await assert.rejects(fetch(urls[0]!))
  })

  it('prints a config that can be pasted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    const run = start('--listen', '127.0.0.1:0')
    try {
      await run.until(/service:[^]*\n$/)
      const file = join(folder, 'config.yaml')
      writeFileSync(file, run.output().slice(run.output().indexOf('receivers:')))
      const config = await loadConfig({ files: [file], set: [], registries: loadComponents, env: {} })
      assert.deepEqual(config.warnings, [])
      assert.ok(config.receivers.has('dcgm'))
    } finally {
      rmSync(folder, { recursive: true })
      run.interrupt()
      await run.ended
    }
  })

  it('lets go wrong what it is told', async () => {
    const run = start('--listen', '127.0.0.1:0', '--fault', '{ kind: error, endpoints: [node-1], status: 503 }')
    await run.until(/service:/)
    const [first] = run.output().match(/http:\S+\/nodes\/node-0\/metrics/)!
    assert.equal((await fetch(first)).status, 200)
    assert.equal((await fetch(first.replace('node-0', 'node-1'))).status, 503)
    run.interrupt()
    assert.equal(await run.ended, 0)
  })

  const wrong: [string[], RegExp][] = [
    [['--nodes', '0'], /nodes must be >= 1/],
    [['--nodes', 'many'], /nodes must be integer/],
    [['--generation', '5'], /generation must be equal to one of the allowed values/],
    [['--start', 'soon'], /start: "soon" is not a moment/],
    [['--fault', '{ kind: nap }'], /faults\.0\.kind must be equal to one of/],
    [['--fault', '{ kind'], /--fault: "\{ kind" is not understood/],
    [['--node', '3'], /unknown option --node; did you mean --nodes\?/],
    [['here'], /unexpected argument "here"/],
  ]
  for (const [argv, message] of wrong) {
    it(`refuses ${argv.join(' ')}`, async () => {
      const run = start(...argv)
      assert.equal(await run.ended, 2)
      assert.match(run.output(), message)
    })
  }

  it('says which address it cannot have', async () => {
    const first = start('--listen', '127.0.0.1:0', '--nodes', '17')
    await first.until(/service:/)
    const [, address] = /http:\/\/([\d.:]+)\//.exec(first.output())!
    const second = start('--listen', address!, '--nodes', '17')
    assert.equal(await second.ended, 1)
    assert.ok(second.output().includes(address!))
    first.interrupt()
    await first.ended
  })
})
