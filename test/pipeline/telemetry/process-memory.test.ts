import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { processMemory } from '../../../pipeline/telemetry/process-memory.ts'

describe('the memory of the process', () => {
  it('is what the process has, below what it may have', () => {
    const { read, limits } = processMemory()
    const { residentBytes, heapBytes } = read()
    assert.ok(heapBytes > 1_000_000 && heapBytes < limits.heapBytes)
    assert.ok(residentBytes > heapBytes / 2 && residentBytes < limits.residentBytes)
    assert.ok(limits.residentBytes <= totalmem())
  })
})
