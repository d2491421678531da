import assert from 'node:assert/strict'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { withTargetLabels } from '../../../receivers/scraping/target-labels.ts'

type Row = Readonly<Record<string, string>>

describe('target labels', () => {
  const target = { instance: 'node-a:9400', job: 'dcgm' }
  const cases: { what: string; sample: Row; target?: Row; honor: boolean; expected: Row }[] = [
    { what: 'are added', sample: { gpu: '0' }, honor: false, expected: { gpu: '0', ...target } },
    {
      what: 'are added when labels are honoured',
      sample: { gpu: '0' },
      honor: true,
      expected: { gpu: '0', ...target },
    },
    {
      what: "win over the sample's, which are kept with a prefix",
      sample: { job: 'train' },
      honor: false,
      expected: { ...target, exported_job: 'train' },
    },
    {
      what: "lose against the sample's where labels are honoured",
      sample: { job: 'train' },
      honor: true,
      expected: { ...target, job: 'train' },
    },
    {
      what: 'are kept away by an empty label where labels are honoured',
      sample: { instance: '' },
      honor: true,
      expected: { job: 'dcgm' },
    },
    {
      what: 'take the place of an empty label otherwise',
      sample: { instance: '' },
      honor: false,
      expected: target,
    },
    {
      what: 'leave a prefixed label that is there already alone',
      sample: { job: 'a', exported_job: 'b' },
      honor: false,
      expected: { ...target, exported_job: 'b', exported_exported_job: 'a' },
    },
    {
      what: 'may be prefixed themselves',
      sample: { foo: '1' },
      target: { foo: '2', exported_foo: '3' },
      honor: false,
      expected: { foo: '2', exported_foo: '3', exported_exported_foo: '1' },
    },
  ]
  for (const { what, sample, target: own = target, honor, expected } of cases) {
    it(what, () => {
      const labels = withTargetLabels(new Map(Object.entries(sample)), Object.entries(own), honor)
      assert.deepEqual(Object.fromEntries(labelPairs(labels)), expected)
    })
  }
})
