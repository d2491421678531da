import assert from 'node:assert/strict'
import { kindTest, parseKind, typeFinder } from '../../../pipeline/cluster/workload-kinds.ts'

describe('kinds as people write them', () => {
  // Text, a kind that an object has, and whether it is meant. Undefined is a group that is not known.
  for (const [text, kind, group, expected] of [
    ['Job.batch', 'Job', 'batch', true],
    ['Job.batch', 'Job', 'batch.volcano.sh', false],
    ['Job.batch', 'Job', undefined, true],
    ['Job.batch', 'CronJob', 'batch', false],
    ['Job', 'Job', 'batch.volcano.sh', true],
    ['Pod.', 'Pod', '', true],
    ['Pod.', 'Pod', 'example.com', false],
  ] as const) {
    it(`${text} ${expected ? 'is' : 'is not'} a ${kind} of the group ${group ?? 'that nobody knows'}`, () => {
      assert.equal(kindTest([text])({ kind, group }), expected)
    })
  }

  for (const text of ['', 'job.batch', 'Job/batch', 'Ray Cluster', 'Job.Batch']) {
    it(`"${text}" is none`, () => assert.equal(parseKind(text), undefined))
  }

  it('have a type, without a group that of Kubernetes itself, else only if all groups agree', () => {
    const typeOf = typeFinder({
      training: ['Job.batch', 'TrainingWorkload.run.ai'],
      distributed: ['Job.batch.volcano.sh', 'MPIJob.kubeflow.org', 'MPIJob.example.com', 'Task.example.com'],
      interactive: ['Task.example.org'],
    })
    assert.deepEqual(
      [
        typeOf('Job', 'batch'),
        typeOf('Job', 'batch.volcano.sh'),
        typeOf('Job', undefined),
        typeOf('Task', undefined),
        typeOf('MPIJob', undefined),
        typeOf('TrainingWorkload', undefined),
        typeOf('Job', 'example.com'),
        typeOf('Widget', undefined),
      ],
      ['training', 'distributed', 'training', undefined, 'distributed', 'training', undefined, undefined],
    )
  })
})
