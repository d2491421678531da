import assert from 'node:assert/strict'
import { labelName, plainLabels, renderLabels } from '../../../../pipeline/simulator/kube-state-metrics/label-names.ts'

describe('label names of kube-state-metrics', () => {
  const names: [string, string][] = [
    ['runai/queue', 'label_runai_queue'],
    ['workloadName', 'label_workload_name'],
    ['run.ai/top-owner-uid', 'label_run_ai_top_owner_uid'],
    ['kueue.x-k8s.io/queue-name', 'label_kueue_x_k8s_io_queue_name'],
    ['app', 'label_app'],
    ['createdBy', 'label_created_by'],
  ]
  for (const [key, name] of names) it(`makes ${name} of ${key}`, () => assert.equal(labelName('label', key), name))

  const cases: [string, Record<string, string>, string[], string][] = [
    ['shows what is allowed, by name', { b: '2', a: '1', c: '3' }, ['b', 'a'], ',label_a="1",label_b="2"'],
    ['shows everything for a star', { b: '2', a: '1' }, ['*'], ',label_a="1",label_b="2"'],
    ['shows nothing that is not allowed', { a: '1' }, ['b'], ''],
    [
      'tells keys apart that end up with one name',
      { 'a-b': '1', 'a.b': '2', c: '3' },
      ['*'],
      ',label_a_b_conflict1="1",label_a_b_conflict2="2",label_c="3"',
    ],
    ['escapes values', { a: '{"x":"\\"}\n' }, ['*'], ',label_a="{\\"x\\":\\"\\\\\\"}\\n"'],
  ]
  it('keeps the case of keys in version 1, by key', () => {
    const values = { workloadName: 'a"b', 'runai/queue': 'x', App: '1' }
    assert.equal(plainLabels(values), ',label_App="1",label_runai_queue="x",label_workloadName="a\\"b"')
  })

  for (const [title, values, allowed, expected] of cases) {
    it(title, () => assert.equal(renderLabels('label', values, allowed), expected))
  }
})
