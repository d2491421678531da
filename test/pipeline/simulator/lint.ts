/** What promtool says about a text. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { programOrSkip } from '../../support/programs.ts'

/** Fails if promtool cannot read it or has other complaints than those, which real servers give it too. */
export function checkByPromtool(context: Mocha.Context, text: string, complaints: RegExp): void {
  const promtool = programOrSkip(context, 'promtool')
  const { stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' })
  const others = (stderr + stdout).split('\n').filter(line => line !== '' && !complaints.test(line))
  assert.deepEqual(others, [])
}
