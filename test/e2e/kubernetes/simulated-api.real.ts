/** The simulated API and a real one that has the same objects: whatever is asked, both say the same. */
import assert from 'node:assert/strict'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { createKubernetesApi, type KubernetesApi } from '../../../pipeline/simulator/kubernetes-api/handler.ts'
import type { GivenObject } from '../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore, type GivenChange } from '../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { eventually } from '../../support/gpucol-process.ts'
import { kubeServersOrSkip, type KubeServers } from './kube-servers.ts'
import { comparable, NAMESPACE, QUESTIONS, RESUMED_WATCHES, type PlainAnswer, type Question } from './questions.ts'

const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const JOBS = `/apis/kubeflow.org/v1/namespaces/${NAMESPACE}/pytorchjobs`

/** Kinds that both sides have objects of. */
const KINDS: readonly [path: string, apiVersion: string, kind: string][] = [
  ['/api/v1/pods', 'v1', 'Pod'],
  ['/api/v1/nodes', 'v1', 'Node'],
  ['/api/v1/namespaces', 'v1', 'Namespace'],
  ['/apis/apps/v1/deployments', 'apps/v1', 'Deployment'],
  ['/apis/apps/v1/replicasets', 'apps/v1', 'ReplicaSet'],
  ['/apis/kubeflow.org/v1/pytorchjobs', 'kubeflow.org/v1', 'PyTorchJob'],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'apiextensions.k8s.io/v1', 'CustomResourceDefinition'],
]

describe('the simulated Kubernetes API and a real kube-apiserver', function () {
  this.timeout(120_000)
  const store = createObjectStore()
  const api = createKubernetesApi(store, { clock: createSystemClock(), builtIn: true, streamingLists: true })
  let real: KubeServers
  /** The revision before the last changes, from which watches resume. */
  let beforeChanges = ''

  before(async function () {
    real = await kubeServersOrSkip(this)
    await makeKinds(real)
    for (const name of ['a', 'b', 'c']) {
      await makePod(real, name)
      await makeJob(real, name)
    }
    store.replaceAll(await readObjects(real))
    beforeChanges = (await readList(real, PODS)).metadata.resourceVersion
    await changePods(real)
    store.apply(await readChanges(real, beforeChanges))
  })
  after(async () => {
    api.close()
    await real?.stop()
  })

  it('give the same answers', async () => {
    const differences = await differencesOf(real, api, QUESTIONS)
    assert.deepEqual(differences, [])
  })

  it('tell a watch that resumes the same changes', async () => {
    const questions = RESUMED_WATCHES.map(question => ({
      ...question,
      path: `${question.path}&resourceVersion=${beforeChanges}`,
    }))
    const differences = await differencesOf(real, api, questions)
    assert.deepEqual(differences, [])
  })
})

/** A few at a time: some wait for a second or three. */
async function differencesOf(
  real: KubeServers,
  api: KubernetesApi,
  questions: readonly Question[],
): Promise<unknown[]> {
  const differences: unknown[] = []
  for (let i = 0; i < questions.length; i += 10) {
    const some = questions.slice(i, i + 10).map(async question => {
      const answers = await Promise.all([real.ask(question.path, question), askSimulated(api, question)])
      const [its, simulated] = answers.map(comparable)
      try {
        assert.deepEqual(simulated, its)
      } catch {
        differences.push({ question, real: its, simulated })
      }
    })
    await Promise.all(some)
  }
  return differences
}

function askSimulated(api: KubernetesApi, { path, method = 'GET', accept }: Question): Promise<PlainAnswer> {
  return new Promise(resolve => {
    let [status, contentType, text] = [0, '', '']
    const over = (): void => resolve({ status, contentType, text: method === 'HEAD' ? '' : text })
    api.handle(
      { method, url: path, headers: accept === undefined ? {} : { accept } },
      {
        head(code, headers) {
          status = code
          contentType = headers['content-type'] ?? ''
        },
        chunk(more) {
          text += more
        },
        end: over,
        fail: over,
      },
    )
  })
}

async function makeKinds({ write, ask }: KubeServers): Promise<void> {
  await write('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } })
  await write('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'pytorchjobs.kubeflow.org' },
    spec: {
      group: 'kubeflow.org',
      scope: 'Namespaced',
      names: { plural: 'pytorchjobs', singular: 'pytorchjob', kind: 'PyTorchJob' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { status: {} },
        },
      ],
    },
  })
  // The server takes a moment to serve a kind that is new to it.
  await eventually(
    () => ask(JOBS),
    ({ status }) => status === 200,
  )
}

async function makePod({ write }: KubeServers, name: string): Promise<void> {
  const spec = { containers: [{ name: 'main', image: 'none' }] }
  await write('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata: metadataOf(name), spec })
}

async function makeJob({ write }: KubeServers, name: string): Promise<void> {
  const job = { apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob', metadata: metadataOf(name), spec: { replicas: 1 } }
  await write('POST', JOBS, job)
}

function metadataOf(name: string): object {
  return { name, labels: { app: 'x', i: name, n: '3' } }
}

/** Labels come and go, and one pod is made again under its name. */
async function changePods(real: KubeServers): Promise<void> {
  const patch = (name: string, labels: object): Promise<unknown> =>
    real.write('PATCH', `${PODS}/${name}`, { metadata: { labels } })
  await patch('b', { i: 'a' })
  await patch('a', { i: null, n: null })
  await patch('b', { i: 'b' })
  await real.write('DELETE', `${PODS}/c`)
  await makePod(real, 'c')
  await patch('a', { i: 'a' })
}

type List = { metadata: { resourceVersion: string }; items: GivenObject[] }

async function readList({ ask }: KubeServers, path: string): Promise<List> {
  return JSON.parse((await ask(path)).text) as List
}

async function readObjects(real: KubeServers): Promise<GivenObject[]> {
  const lists = KINDS.map(async ([path, apiVersion, kind]) =>
    (await readList(real, path)).items.map(item => ({ ...item, apiVersion, kind })),
  )
  return (await Promise.all(lists)).flat()
}

async function readChanges({ ask }: KubeServers, since: string): Promise<GivenChange[]> {
  const { text } = await ask(`${PODS}?watch=1&timeoutSeconds=1&resourceVersion=${since}`)
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as GivenChange)
}
