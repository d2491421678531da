import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const module = JSON.stringify(join(import.meta.dirname, '../../../pipeline/commands/frugal-heap.ts'))

/** In a process of its own, because it is about the process. */
function printed(program: string): string {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module-typescript', '-e', `import { beginFrugalStart, endFrugalStart } from ${module}\n${program}`],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

/** Megabytes of a half of the heap where objects are young. */
function youngMegabytes(before: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    ${before}
    let kept = []
    for (let i = 0; i < 4000; i++) {
      if (i % 500 === 0) kept = []
      kept.push(new Array(8192).fill(i))
    }
    const young = getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
    console.log(Math.round((young.space_used_size + young.space_available_size) / 2 ** 20))
  `
  return Number(printed(program))
}

// It may have grown once or twice before: on a busy machine it does.
const HARDLY_MORE = 8

describe('a frugal start', () => {
  it('has hardly more room for what is young than V8 begins with', () => {
    const megabytes = youngMegabytes('beginFrugalStart()')
    assert.ok(megabytes < HARDLY_MORE, `${megabytes} MB`)
  })

  it('has no more when it is over, and never as much as V8 would take', () => {
    const megabytes = youngMegabytes('beginFrugalStart(); endFrugalStart({ after: () => () => {} })')
    assert.ok(megabytes < HARDLY_MORE, `${megabytes} MB`)
    assert.ok(youngMegabytes('') > 2 * HARDLY_MORE)
  })

  it('is over when the heap has grown by little for a while, and not while targets are learnt', () => {
    const program = `
      const waits = new Set()
      const clock = {
        after(ms, run) {
          const wait = { ms, run }
          waits.add(wait)
          return () => waits.delete(wait)
        },
      }
      function pass(ms) {
        for (const wait of [...waits]) if (wait.ms === ms && waits.delete(wait)) wait.run()
        told.push([...waits].map(wait => wait.ms / 1000).sort((a, b) => a - b).join())
      }
      const told = []
      beginFrugalStart()
      const end = endFrugalStart(clock)
      pass(2000)
      const learnt = Array.from({ length: 40 }, (_, i) => new Array(32768).fill(i))
      pass(30000)
      pass(2000)
      pass(30000)
      console.log(told.join(' '), learnt.length)
      endFrugalStart(clock)()
      console.log(waits.size)
    `
    // There is little room for garbage while targets are learnt, which is looked at every two seconds.
    assert.equal(printed(program), '2,30 2,30 2,30  40\n0')
  })
})
