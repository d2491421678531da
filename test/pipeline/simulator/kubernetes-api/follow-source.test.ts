import assert from 'node:assert/strict'
import { followSource } from '../../../../pipeline/simulator/kubernetes-api/follow-source.ts'
import { createObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import type { KubernetesObject, ObjectChange, ObjectSource } from '../../../../pipeline/simulator/kubernetes-object.ts'
import { pod } from './test-api.ts'

function versioned(name: string, resourceVersion: string): KubernetesObject {
  return pod(name, { uid: `uid of ${name}`, resourceVersion }) as KubernetesObject
}

describe('a store that follows a source', () => {
  it('has its objects, its changes and its versions, until it follows no more', () => {
    const listeners = new Set<(change: ObjectChange) => void>()
    const source: ObjectSource = {
      resourceVersion: '40',
      objects: () => [versioned('b', '40'), versioned('a', '12')],
      watch(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    }
    const store = createObjectStore()
    const heard: string[] = []
    store.subscribe((_, events) => {
      for (const { type, key, object } of events) heard.push(`${type} ${key}@${object.metadata.resourceVersion}`)
    })
    const tell = (change: ObjectChange): void => listeners.forEach(listener => listener(change))

    const stop = followSource(store, source)
    tell({ type: 'MODIFIED', object: versioned('a', '41') })
    tell({ type: 'DELETED', object: versioned('b', '45') })
    stop()
    tell({ type: 'ADDED', object: versioned('c', '46') })
    assert.deepEqual(heard, [
      'ADDED default/a@12',
      'ADDED default/b@40',
      'MODIFIED default/a@41',
      'DELETED default/b@45',
    ])
    assert.equal(store.revision, 45)
  })

  it('keeps the objects of the source themselves, not copies', () => {
    const one = versioned('a', '12')
    const store = createObjectStore()
    followSource(store, { resourceVersion: '12', objects: () => [one], watch: () => () => {} })
    assert.equal(store.collection('', 'Pod').get('default/a'), one)
  })
})
