import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createObjectStore, type ObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { object, pod } from './test-api.ts'

/** What the store announces: `ADDED Pod default/a@2`. */
function record(store: ObjectStore): string[] {
  const events: string[] = []
  store.subscribe((collection, some) => {
    for (const { type, key, revision } of some) events.push(`${type} ${collection.kind} ${key}@${revision}`)
  })
  return events
}

describe('the object store', () => {
  describe('given the whole state', () => {
    const steps: [what: string, before: GivenObject[], after: GivenObject[], events: string[]][] = [
      ['announces what is new', [], [pod('b'), pod('a')], ['ADDED Pod default/b@2', 'ADDED Pod default/a@3']],
      ['announces nothing if nothing changed', [pod('a')], [pod('a')], []],
      ['announces nothing if only the order changed', [pod('a'), pod('b')], [pod('b'), pod('a')], []],
      ['announces what is different', [pod('a')], [pod('a', { phase: 'Running' })], ['MODIFIED Pod default/a@3']],
      ['announces what is gone', [pod('a'), pod('b')], [pod('b')], ['DELETED Pod default/a@4']],
      [
        'announces deletions first',
        [pod('a')],
        [object('v1', 'Node', 'n'), pod('b')],
        ['DELETED Pod default/a@3', 'ADDED Pod default/b@5', 'ADDED Node n@4'],
      ],
      [
        'takes another uid under the same name for another object',
        [pod('a', { uid: 'one' })],
        [pod('a', { uid: 'two' })],
        ['DELETED Pod default/a@3', 'ADDED Pod default/a@4'],
      ],
      ['takes an object that lost its uid for the same', [pod('a', { uid: 'one' })], [pod('a')], []],
      [
        'keeps versions that grow, whatever their order',
        [],
        [pod('a', { resourceVersion: '300' }), pod('b', { resourceVersion: '20' }), pod('c')],
        ['ADDED Pod default/b@20', 'ADDED Pod default/a@300', 'ADDED Pod default/c@301'],
      ],
      [
        'gives another version where the given one would go back',
        [pod('a', { resourceVersion: '300' })],
        [pod('a', { resourceVersion: '300' }), pod('b', { resourceVersion: '20' })],
        ['ADDED Pod default/b@301'],
      ],
      [
        'takes another given version for a change',
        [pod('a', { resourceVersion: '300' })],
        [pod('a', { resourceVersion: '305' })],
        ['MODIFIED Pod default/a@305'],
      ],
      [
        'takes a version that is no number for none',
        [],
        [pod('a', { resourceVersion: 'x' })],
        ['ADDED Pod default/a@2'],
      ],
    ]
    for (const [what, before, after, expected] of steps) {
      it(what, () => {
        const store = createObjectStore()
        store.replaceAll(before)
        const events = record(store)
        store.replaceAll(after)
        assert.deepEqual(events, expected)
      })
    }

    it('derives uids that are the same every time, and different for different objects', () => {
      const uids = [createObjectStore(), createObjectStore()].map(store => {
        store.replaceAll([pod('a'), pod('b'), object('batch/v1', 'Job', 'a', 'default')])
        return [...store.kinds()].flatMap(kind => [...kind.objects()].map(({ metadata }) => metadata.uid))
      })
      assert.deepEqual(uids[0], uids[1])
      assert.equal(new Set(uids[0]).size, 3)
      for (const uid of uids[0]!) assert.match(uid, /^[\da-f]{8}-[\da-f]{4}-5[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    })

    it('derives another uid for an object that was gone and is there again', () => {
      const store = createObjectStore()
      const uid = (): string | undefined => store.collection('', 'Pod').get('default/a')?.metadata.uid
      store.replaceAll([pod('a')])
      const first = uid()
      store.replaceAll([pod('a', { phase: 'Running' })])
      assert.equal(uid(), first)
      store.replaceAll([])
      store.replaceAll([pod('a')])
      assert.notEqual(uid(), first)
    })

    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r' }
    function owned(reference: typeof owner): GivenObject {
      const bare = pod('a')
      return { ...bare, metadata: { ...bare.metadata, ownerReferences: [reference] } }
    }
    const owners: [what: string, replicaSet: GivenObject][] = [
      ['a derived one', object('apps/v1', 'ReplicaSet', 'r', 'default')],
      ['a given one', { ...owner, metadata: { name: 'r', namespace: 'default', uid: 'given' } }],
    ]
    for (const [what, replicaSet] of owners) {
      it(`gives a reference without uid that of its owner: ${what}`, () => {
        const store = createObjectStore()
        for (let step = 0; step < 3; step++) {
          // The owner comes after what it owns, goes, and comes again.
          store.replaceAll(step === 1 ? [] : [owned(owner), replicaSet])
          const reference = store.collection('', 'Pod').get('default/a')?.metadata.ownerReferences?.[0]
          const uid = store.collection('apps', 'ReplicaSet').get('default/r')?.metadata.uid
          assert.equal(reference?.uid, uid)
          assert.equal(uid === undefined, step === 1)
        }
      })
    }

    it('puts objects of namespaced kinds without namespace into the default one', () => {
      const store = createObjectStore()
      store.replaceAll([object('v1', 'Pod', 'a'), object('v1', 'Node', 'n', 'oops')])
      assert.equal(store.collection('', 'Pod').get('default/a')?.metadata.namespace, 'default')
      assert.equal(store.collection('', 'Node').get('n')?.metadata.namespace, undefined)
    })

    it('refuses two objects with one uid, and keeps what it has', () => {
      const store = createObjectStore()
      store.replaceAll([pod('a')])
      assert.throws(() => store.replaceAll([pod('x', { uid: 'u' }), pod('y', { uid: 'u' })]), {
        message: 'Pod "default/x" and Pod "default/y" have the same uid "u"',
      })
      assert.equal(store.collection('', 'Pod').size, 1)
      assert.equal(store.revision, 2)
    })
  })

  it('takes single changes and sets right what contradicts the state', () => {
    const store = createObjectStore()
    const events = record(store)
    store.apply([
      { type: 'MODIFIED', object: pod('a', { uid: 'one' }) },
      { type: 'ADDED', object: pod('a', { uid: 'one', phase: 'Running' }) },
      { type: 'ADDED', object: pod('a', { uid: 'two' }) },
      { type: 'DELETED', object: pod('nowhere') },
      { type: 'DELETED', object: pod('a') },
    ])
    assert.deepEqual(events, [
      'ADDED Pod default/a@2',
      'MODIFIED Pod default/a@3',
      'DELETED Pod default/a@4',
      'ADDED Pod default/a@5',
      'DELETED Pod default/a@6',
    ])
  })

  it('stamps an object with the revision of its last change, also a deleted one', () => {
    const store = createObjectStore()
    const versions: unknown[] = []
    store.subscribe((_, events) => versions.push(...events.map(event => event.object.metadata.resourceVersion)))
    store.replaceAll([pod('a')])
    store.replaceAll([])
    assert.deepEqual(versions, ['2', '3'])
  })

  it('keeps a kind that lost its last object', () => {
    const store = createObjectStore()
    assert.deepEqual([...store.kinds()], [])
    store.replaceAll([pod('a')])
    store.replaceAll([])
    assert.deepEqual(
      [...store.kinds()].map(({ kind }) => kind),
      ['Pod'],
    )
  })

  it('says when there is a kind, or a version of one, that was not there', () => {
    const store = createObjectStore()
    const epochs = [
      [pod('a')],
      [pod('b')],
      [object('ray.io/v1', 'RayJob', 'r', 'x')],
      [object('ray.io/v1alpha1', 'RayJob', 'r', 'x')],
    ].map(objects => {
      const before = store.kindsEpoch
      store.replaceAll(objects)
      return store.kindsEpoch > before
    })
    assert.deepEqual(epochs, [true, false, true, true])
  })

  it('can tell every earlier state, and every change since, until it is compacted', () => {
    const change = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      namespace: fc.constantFrom('x', 'x-y', 'z'),
      to: fc.constantFrom('', 'Running', 'Failed'),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), changes => {
        const store = createObjectStore()
        const pods = store.collection('', 'Pod')
        const state = (revision: number, namespace?: string, from?: string): string[] => {
          const range = pods.rangeAt(revision, namespace, from)
          const entries = [...range.entries].map(([key, { metadata }]) => `${key}@${metadata.resourceVersion}`)
          assert.equal(range.count, entries.length)
          return entries
        }
        const states = new Map([[store.revision, state(store.revision)]])
        for (const { name, namespace, to } of changes) {
          store.apply([{ type: to === '' ? 'DELETED' : 'MODIFIED', object: pod(name, { namespace, phase: to }) }])
          states.set(store.revision, state(store.revision))
        }
        for (const [revision, expected] of states) {
          assert.deepEqual(state(revision), expected)
          for (const namespace of ['x', 'x-y']) {
            const some = expected.filter(entry => entry.startsWith(`${namespace}/`))
            assert.deepEqual(state(revision, namespace), some)
            assert.deepEqual(
              state(revision, namespace, 'b'),
              some.filter(entry => entry >= `${namespace}/b`),
            )
          }
          assert.equal(pods.eventsAfter(revision).length, store.revision - revision)
        }
        store.compact()
        assert.equal(pods.oldestRevision, store.revision)
        assert.deepEqual(pods.eventsAfter(store.revision), [])
      }),
      { numRuns: 50 },
    )
  })

  it('forgets the oldest changes when there are too many', () => {
    const store = createObjectStore({ historyLimit: 8 })
    const pods = store.collection('', 'Pod')
    for (let i = 0; i < 100; i++) store.apply([{ type: 'MODIFIED', object: pod('a', { phase: String(i) }) }])
    assert.ok(pods.oldestRevision >= store.revision - 10 && pods.oldestRevision <= store.revision - 8)
    assert.equal(pods.eventsAfter(pods.oldestRevision).length, store.revision - pods.oldestRevision)
  })

  it('stops telling those who do not listen any more', () => {
    const store = createObjectStore()
    let calls = 0
    const stop = store.subscribe(() => calls++)
    store.replaceAll([pod('a')])
    stop()
    store.replaceAll([])
    assert.equal(calls, 1)
  })
})
