import assert from 'node:assert/strict'
import { createCluster } from '../../../pipeline/cluster/cluster.ts'
import { indexedByName, nameKey, SEEN_NAMES } from '../../../pipeline/cluster/seen-names.ts'
import { createSource } from '../../support/batch-from-text.ts'
import type { SeenObject } from '../../../pipeline/cluster/seen-object.ts'

describe('the names of objects that series show', () => {
  it('lead to all objects that have them, and change only when these do', () => {
    const cluster = createCluster()
    const objects = indexedByName(cluster, cluster.table<SeenObject>('objects'))
    const entry = cluster.table<readonly string[]>(SEEN_NAMES).entry(nameKey('Pod', 'ns', 'p'))
    const source = createSource()
    const pod = (uid: string): SeenObject => ({ kind: 'Pod', namespace: 'ns', name: 'p', uid, facts: [], source })
    assert.equal(entry.value, undefined)
    objects.set('a', pod('a'))
    objects.set('b', pod('b'))
    objects.set('c', { ...pod('c'), namespace: 'other' })
    assert.deepEqual(entry.value, ['a', 'b'])
    const { version } = entry
    objects.set('a', pod('a'))
    assert.equal(entry.version, version, 'another value of a known object is no other name')
    objects.delete('a')
    objects.delete('a')
    assert.deepEqual(entry.value, ['b'])
    objects.delete('b')
    assert.equal(entry.value, undefined)
    assert.equal(objects.size, 1)
  })
})
