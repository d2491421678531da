import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { objectsFromDocuments } from '../../../../pipeline/simulator/kubernetes-api/object-problems.ts'
import { createTestApi, object, pod } from './test-api.ts'

describe('objects that somebody wrote down', () => {
  const found: [what: string, documents: unknown[], names: string[]][] = [
    ['single objects', [pod('a'), object('v1', 'Node', 'n')], ['Pod a', 'Node n']],
    [
      'a v1 List',
      [{ apiVersion: 'v1', kind: 'List', items: [pod('a'), object('v1', 'Node', 'n')] }],
      ['Pod a', 'Node n'],
    ],
    [
      'a list of one kind, as the API answers it',
      [{ apiVersion: 'apps/v1', kind: 'ReplicaSetList', items: [{ metadata: { name: 'r', namespace: 'x' } }] }],
      ['ReplicaSet r'],
    ],
    ['empty documents in between', [null, pod('a'), undefined], ['Pod a']],
    ['an empty list', [{ apiVersion: 'v1', kind: 'List', items: [] }], []],
    [
      'two kinds of one name',
      [object('batch/v1', 'Job', 'j', 'x'), object('batch.volcano.sh/v1alpha1', 'Job', 'j', 'x')],
      ['Job j', 'Job j'],
    ],
  ]
  for (const [what, documents, expected] of found) {
    it(`can be ${what}`, () => {
      const { objects, problems } = objectsFromDocuments(documents)
      assert.deepEqual(problems, [])
      assert.deepEqual(
        objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
        expected,
      )
    })
  }

  const wrong: [what: string, documents: unknown[], problem: string][] = [
    ['no map', [3], '0 : an object must be a map with apiVersion, kind and metadata'],
    ['no kind', [{ apiVersion: 'v1', metadata: { name: 'a' } }], '0 : the object has no kind'],
    ['no apiVersion', [{ kind: 'Pod', metadata: { name: 'a' } }], '0 : the object has no apiVersion'],
    ['no metadata', [{ apiVersion: 'v1', kind: 'Pod' }], '0 : the Pod has no metadata'],
    ['no name', [{ apiVersion: 'v1', kind: 'Pod', metadata: {} }], '0 metadata: the Pod has no name'],
    [
      'one uid twice',
      [pod('a', { uid: 'u' }), object('v1', 'Node', 'n'), { ...pod('b', { uid: 'u' }) }],
      '2 metadata.uid: Pod "default/a" and Pod "default/b" have the same uid "u"',
    ],
    ['one object twice', [pod('a'), pod('a')], '1 metadata.name: Pod "default/a" is there twice'],
    [
      'one object twice, once with its default namespace',
      [pod('a'), object('v1', 'Pod', 'a')],
      '1 metadata.name: Pod "default/a" is there twice',
    ],
    [
      'a uid that is no string',
      [{ ...pod('a'), metadata: { name: 'a', uid: 5 } }],
      '0 metadata.uid: the uid of Pod "default/a" must be a string',
    ],
    [
      'a label that is no string',
      [
        {
          ...object('apps/v1', 'Deployment', 'd', 'x'),
          metadata: { name: 'd', namespace: 'x', labels: { version: 1.5 } },
        },
      ],
      '0 metadata.labels.version: labels.version of apps Deployment "x/d" must be a string, not 1.5',
    ],
    [
      'items that are no list',
      [{ apiVersion: 'v1', kind: 'List', items: 5 }],
      '0 items: the items of a List must be a list',
    ],
    [
      'a mistake in an item',
      [pod('a'), { apiVersion: 'v1', kind: 'PodList', items: [{ metadata: { name: 'b' } }, { metadata: {} }] }],
      '1 items.1.metadata: the Pod has no name',
    ],
  ]
  for (const [what, documents, expected] of wrong) {
    it(`must not have ${what}`, () => {
      const [first] = objectsFromDocuments(documents).problems
      assert.equal(`${first?.document} ${first?.path.join('.')}: ${first?.message}`, expected)
    })
  }

  it('have all their problems told at once', () => {
    assert.equal(objectsFromDocuments([{ kind: 'Pod' }, 7, pod('a'), pod('a')]).problems.length, 3)
  })
})

const CAPTURES = '../shared/captures'

describe('objects of real clusters', () => {
  before(function () {
    if (existsSync(CAPTURES)) return
    process.stdout.write(`      ${CAPTURES} is not there: real objects are not read\n`)
    this.skip()
  })

  it('have no problems, and are listed as they were', () => {
    const folders = ['k8s-objects', 'newrelic-k8s-1_34'].map(folder => `${CAPTURES}/${folder}`)
    const files = folders.flatMap(folder => readdirSync(folder).map(file => `${folder}/${file}`))
    const documents = files
      .filter(file => file.endsWith('.yaml'))
      .map(file => parseAllDocuments(readFileSync(file, 'utf8')).map(document => document.toJS() as unknown))
    let count = 0
    for (const file of documents) {
      const { objects, problems } = objectsFromDocuments(file)
      assert.deepEqual(problems, [])
      const { store, get } = createTestApi(objects)
      for (const object of objects) {
        const { metadata } = object
        const kinds = `${object.kind.toLowerCase()}s`
        const path = metadata.namespace === undefined ? kinds : `namespaces/${metadata.namespace}/${kinds}`
        assert.deepEqual(get(`/api/v1/${path}/${metadata.name}`).body, JSON.parse(JSON.stringify(object)))
        count++
      }
      const versions = objects.map(({ metadata }) => Number(metadata.resourceVersion))
      assert.equal(store.revision, Math.max(...versions))
    }
    assert.ok(count > 30)
  })
})
