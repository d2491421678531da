import assert from 'node:assert/strict'
import { createTestApi, names, object, pod } from './test-api.ts'

const { get } = createTestApi(
  [
    pod('a', { node: 'n1', phase: 'Running' }),
    pod('b', { node: 'n2', phase: 'Failed' }),
    pod('c', { namespace: 'other' }),
    { ...object('v1', 'Node', 'n1'), spec: { unschedulable: true } },
    object('v1', 'Node', 'n2'),
    { ...object('v1', 'Namespace', 'default'), status: { phase: 'Active' } },
    { ...object('batch/v1', 'Job', 'j', 'default'), status: { succeeded: 2 } },
    object('kubeflow.org/v1', 'PyTorchJob', 'p', 'default'),
    { ...object('resource.k8s.io/v1', 'ResourceSlice', 's'), spec: { nodeName: 'n1', driver: 'gpu.nvidia.com' } },
    object('apps/v1', 'ReplicaSet', 'r', 'default'),
  ],
  {},
)

/** Every answer was given by kube-apiserver 1.36.3 too. */
describe('a field selector', () => {
  const selections: [path: string, selector: string, selected: string][] = [
    ['/api/v1/pods', '', 'a b c'],
    ['/api/v1/pods', ',', 'a b c'],
    ['/api/v1/pods', 'metadata.name=a', 'a'],
    ['/api/v1/pods', 'metadata.name==a', 'a'],
    ['/api/v1/pods', 'metadata.name!=a', 'b c'],
    ['/api/v1/pods', 'metadata.name=a,metadata.name=b', ''],
    ['/api/v1/pods', 'metadata.namespace=other', 'c'],
    ['/api/v1/namespaces/default/pods', 'metadata.namespace=other', ''],
    ['/api/v1/pods', 'spec.nodeName=n1', 'a'],
    ['/api/v1/pods', 'spec.host=n1', 'a'],
    ['/api/v1/pods', 'spec.nodeName=', 'c'],
    ['/api/v1/pods', 'spec.nodeName!=', 'a b'],
    ['/api/v1/pods', 'status.phase!=Running,metadata.namespace=default', 'b'],
    ['/api/v1/pods', 'spec.hostNetwork=false', 'a b c'],
    ['/api/v1/pods', 'metadata.name=a\\,b', ''],
    ['/api/v1/nodes', 'spec.unschedulable=false', 'n2'],
    ['/api/v1/nodes', 'spec.unschedulable=true', 'n1'],
    ['/api/v1/namespaces', 'status.phase=Active', 'default'],
    ['/apis/batch/v1/jobs', 'status.successful=2', 'j'],
    ['/apis/kubeflow.org/v1/pytorchjobs', 'metadata.name=p', 'p'],
    ['/apis/resource.k8s.io/v1/resourceslices', 'spec.nodeName=n1,spec.driver=gpu.nvidia.com', 's'],
  ]
  for (const [path, selector, selected] of selections) {
    it(`"${selector}" of ${path} selects ${selected || 'nothing'}`, () => {
      const answer = get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)
      assert.equal(answer.status, 200)
      assert.equal(names(answer).join(' '), selected)
    })
  }

  const onlyNames = 'only "metadata.name", "metadata.namespace"'
  const mistakes: [path: string, selector: string, message: string][] = [
    ['/api/v1/pods', 'foo=bar', 'field label not supported: foo'],
    ['/api/v1/pods', 'metadata.labels.app=x', 'field label not supported: metadata.labels.app'],
    ['/api/v1/pods', ' metadata.name=a', 'field label not supported:  metadata.name'],
    ['/api/v1/nodes', 'metadata.namespace=x', 'field label not supported: metadata.namespace'],
    ['/apis/kubeflow.org/v1/pytorchjobs', 'spec.x=1', 'field label not supported: spec.x'],
    ['/apis/apps/v1/replicasets', 'spec.nodeName=1', `"spec.nodeName" is not a known field selector: ${onlyNames}`],
    ['/apis/batch/v1/jobs', 'x=1', 'field label "x" not supported for Job'],
    [
      '/apis/resource.k8s.io/v1/resourceslices',
      'x=1',
      'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x',
    ],
    ['/api/v1/pods', 'metadata.name', `invalid selector: 'metadata.name'; can't understand 'metadata.name'`],
    [
      '/api/v1/pods',
      'metadata.name in (a)',
      `invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'`,
    ],
    ['/api/v1/pods', 'metadata.name=a\\-b', 'invalid field selector: invalid escape sequence: \\-'],
    ['/api/v1/pods', 'metadata.name=a=b', 'invalid field selector: unescaped character in value: 61'],
  ]
  for (const [path, selector, message] of mistakes) {
    it(`"${selector}" of ${path} is refused`, () => {
      const { status, body } = get(`${path}?fieldSelector=${encodeURIComponent(selector)}`)
      assert.equal(status, 400)
      assert.equal(body.reason, 'BadRequest')
      assert.equal(body.message, message)
    })
  }
})
