import assert from 'node:assert/strict'
import {
  configArguments,
  configHelp,
  configOptions,
  refusePositionals,
  type Command,
} from '../../../pipeline/commands/command.ts'
import { resultOf } from '../../support/run-command.ts'

const show: Command = {
  name: 'show',
  summary: 'shows its arguments.',
  help: `Usage: gpucol show\n\n${configHelp}`,
  options: { ...configOptions, loud: { type: 'boolean' } },
  async run(args, { out }) {
    refusePositionals(args)
    out(JSON.stringify({ ...configArguments(args), loud: args.values['loud'] === true }))
    return 0
  },
}

const good: [string[], unknown][] = [
  [['--config', 'a.yaml'], { files: ['a.yaml'], set: [], loud: false }],
  [['--config=a.yaml', '--config', 'b.yaml'], { files: ['a.yaml', 'b.yaml'], set: [], loud: false }],
  [['--config', 'a', '--set', 'b=c', '--set=d.e=f', '--loud'], { files: ['a'], set: ['b=c', 'd.e=f'], loud: true }],
]

const bad: [string[], string][] = [
  [[], '--config FILE is missing'],
  [['--conifg', 'a.yaml'], 'unknown option --conifg; did you mean --config?'],
  [['--zzz'], 'unknown option --zzz'],
  [['-x'], 'unknown option -x'],
  [['--config'], '--config needs a value'],
  [['--config', '--set', 'a=b'], '--config needs a value'],
  [['--config', 'a', '--loud=yes'], '--loud takes no value'],
  [['my.yaml'], 'unexpected argument "my.yaml"; did you mean --config my.yaml?'],
  [['--config', 'a', 'what'], 'unexpected argument "what"'],
]

describe('runCommand', () => {
  for (const [argv, expected] of good)
    it(`understands ${argv.join(' ')}`, async () => {
      const { code, out, err } = await resultOf(show, argv)
      assert.deepEqual([code, err], [0, ''])
      assert.deepEqual(JSON.parse(out), expected)
    })

  for (const [argv, message] of bad)
    it(`ends with 2 and a hint for "${argv.join(' ')}"`, async () => {
      assert.deepEqual(await resultOf(show, argv), {
        code: 2,
        out: '',
        err: `gpucol show: ${message}\nSee gpucol show --help.\n`,
      })
    })

  it('shows help on standard output, whatever else is there', async () => {
    for (const argv of [['--help'], ['-h'], ['--config', 'a', '--help']]) {
      const { code, out, err } = await resultOf(show, argv)
      assert.deepEqual([code, err], [0, ''])
      assert.match(out, /^gpucol show: shows its arguments\.\n\nUsage: gpucol show\n/)
      assert.match(out, /--config FILE .*\n.*--set KEY=VALUE.*\n.*--help/)
    }
  })

  it('lets other errors pass', async () => {
    const failing: Command = { ...show, run: () => Promise.reject(new Error('broken')) }
    await assert.rejects(resultOf(failing, []), /broken/)
  })
})
