import assert from 'node:assert/strict'
import { METADATA, METADATA_LIST, smallCluster } from './test-api.ts'

const PODS = '/api/v1/pods'

describe('the Kubernetes API', () => {
  describe('asked for metadata only', () => {
    it('gives an object without the rest', () => {
      const { get } = smallCluster()
      const expected = {
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a', namespace: 'default', uid: 'u', labels: { app: 'x' }, resourceVersion: '2' },
      }
      assert.deepEqual(get('/api/v1/namespaces/default/pods/a', METADATA).body, expected)
      const list = get(PODS, METADATA_LIST).body
      assert.deepEqual(list, {
        kind: 'PartialObjectMetadataList',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: '6' },
        items: [expected],
      })
      const older = { accept: METADATA.accept.replace('v=v1', 'v=v1beta1') }
      assert.equal(get('/api/v1/namespaces/default/pods/a', older).body.apiVersion, 'meta.k8s.io/v1beta1')
    })

    it('has null where a list is empty, as there', () => {
      const { get } = smallCluster()
      assert.equal(get('/api/v1/namespaces/nowhere/pods', METADATA_LIST).body.items, null)
    })
  })

  const accepts: [accept: string, path: string, outcome: string][] = [
    ['*/*', PODS, 'PodList'],
    ['application/*', PODS, 'PodList'],
    ['application/json, text/plain', PODS, 'PodList'],
    ['application/json;charset=utf-8', PODS, 'PodList'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', PODS, 'PodList'],
    [
      'application/json;q=0.1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
      PODS,
      'PartialObjectMetadataList',
    ],
    ['application/vnd.kubernetes.protobuf,application/json', PODS, 'PodList'],
    ['text/html', PODS, 'only the following media types are accepted: application/json'],
    [
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      PODS,
      'only the following media types are accepted: application/json',
    ],
    [METADATA.accept, PODS, 'you requested PartialObjectMetadata, but the requested object is a list (*core.PodList)'],
    [
      METADATA_LIST.accept,
      '/api/v1/namespaces/default/pods/a',
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.Pod)',
    ],
    [
      METADATA.accept,
      '/apis/kubeflow.org/v1/pytorchjobs',
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
    ],
  ]
  for (const [accept, path, outcome] of accepts) {
    it(`answers ${outcome} to who accepts ${accept} at ${path}`, () => {
      const { status, body } = smallCluster().get(path, { accept })
      assert.equal(status === 200 ? body.kind : body.message, outcome)
      if (status !== 200) assert.deepEqual([status, body.reason], [406, 'NotAcceptable'])
    })
  }
})
