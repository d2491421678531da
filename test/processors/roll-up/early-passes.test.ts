import assert from 'node:assert/strict'
import { createEarlyPasses } from '../../../processors/roll-up/early-passes.ts'
import { batchFromText, createSource } from '../../support/batch-from-text.ts'

describe('what is passed before the API tells of it', () => {
  const ksm = createSource('http://ksm:8080/metrics')
  const create = () => createEarlyPasses(name => name === 'kube_pod_info')

  it('is the last batch of each source that tells of such objects', () => {
    const early = create()
    early.note(batchFromText('kube_pod_info{pod="a"} 1\n', { source: ksm }))
    const last = batchFromText('kube_pod_info{pod="b"} 1\nother 2\n', { source: ksm })
    early.note(last)
    early.note(batchFromText('DCGM_FI_DEV_GPU_UTIL 1\n'))
    assert.deepEqual(early.take(), [last])
  })

  it('is nothing of a source that has failed since', () => {
    const early = create()
    const batch = batchFromText('kube_pod_info{pod="a"} 1\n', { source: ksm })
    early.note(batch)
    early.note({ ...batch, outcome: 'failed' })
    assert.deepEqual(early.take(), [])
  })

  it('is taken once', () => {
    const early = create()
    const batch = batchFromText('kube_pod_info{pod="a"} 1\n', { source: ksm })
    early.note(batch)
    early.take()
    early.note(batch)
    assert.deepEqual(early.take(), [])
  })
})
