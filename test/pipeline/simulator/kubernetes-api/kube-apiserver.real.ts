/**
 * Compares the simulated API with a real one. To run it, point GPUCOL_KUBE_APISERVER at an API server that can be written to, for
 * example https://127.0.0.1:16443, and GPUCOL_KUBE_TOKEN at a token for it. Objects are made in a namespace of their own.
 */
import assert from 'node:assert/strict'
import { request } from 'node:https'
import { setTimeout } from 'node:timers/promises'
import { createSystemClock } from '../../../../pipeline/clock/system-clock.ts'
import { createKubernetesApi, type KubernetesApi } from '../../../../pipeline/simulator/kubernetes-api/handler.ts'
import type { GivenObject } from '../../../../pipeline/simulator/kubernetes-api/object-identity.ts'
import { createObjectStore, type GivenChange } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { comparable, NAMESPACE, QUESTIONS, RESUMED_WATCHES, type PlainAnswer, type Question } from './questions.ts'

const { GPUCOL_KUBE_APISERVER: server, GPUCOL_KUBE_TOKEN: bearer = '' } = process.env
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
  /** The revision before the last changes, from which watches resume. */
  let beforeChanges = ''

  before(async function () {
    if (server === undefined) {
      process.stdout.write('      no kube-apiserver to compare with: GPUCOL_KUBE_APISERVER is not set\n')
      return this.skip()
    }
    await makeKinds()
    await removeObjects()
    for (const name of ['a', 'b', 'c']) await makeObjects(name)
    store.replaceAll(await readObjects())
    beforeChanges = (await readList(PODS)).metadata.resourceVersion
    await changePods()
    store.apply(await readChanges(beforeChanges))
  })
  after(() => api.close())

  it('give the same answers', async () => {
    const differences = await differencesOf(api, QUESTIONS)
    assert.deepEqual(differences, [])
  })

  it('tell a watch that resumes the same changes', async () => {
    const questions = RESUMED_WATCHES.map(question => ({
      ...question,
      path: `${question.path}&resourceVersion=${beforeChanges}`,
    }))
    const differences = await differencesOf(api, questions)
    assert.deepEqual(differences, [])
  })
})

/** A few at a time: some wait for a second or three. */
async function differencesOf(api: KubernetesApi, questions: readonly Question[]): Promise<unknown[]> {
  const differences: unknown[] = []
  for (let i = 0; i < questions.length; i += 10) {
    const some = questions.slice(i, i + 10).map(async question => {
      const [real, simulated] = (await Promise.all([askReal(question), askSimulated(api, question)])).map(comparable)
      try {
        assert.deepEqual(simulated, real)
      } catch {
        differences.push({ question, real, simulated })
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

function askReal(
  { path, method = 'GET', accept }: Question,
  body?: unknown,
  type = 'application/json',
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${bearer}`,
      // To curl and browsers it writes indented documents.
      'user-agent': 'gpucol',
      ...(accept !== undefined && { accept }),
      ...(body !== undefined && { 'content-type': type }),
    }
    request(server + path, { method, headers, rejectUnauthorized: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (more: string) => (text += more))
      response.on('end', () =>
        resolve({ status: response.statusCode!, contentType: response.headers['content-type'] ?? '', text }),
      )
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}

async function write(method: string, path: string, body?: unknown, type?: string): Promise<void> {
  const { status, text } = await askReal({ method, path }, body, type)
  // What is there already, and what is not there any more, is as it should be.
  assert.ok(status < 300 || status === 409 || status === 404, text)
}

async function makeKinds(): Promise<void> {
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
  const signal = AbortSignal.timeout(30_000)
  while ((await askReal({ path: JOBS })).status !== 200) await setTimeout(100, undefined, { signal })
}

async function removeObjects(): Promise<void> {
  for (const path of [PODS, JOBS]) await write('DELETE', path)
  await setTimeout(500)
}

async function makeObjects(name: string): Promise<void> {
  const metadata = { name, labels: { app: 'x', i: name, n: '3' } }
  const spec = { containers: [{ name: 'main', image: 'none' }] }
  await write('POST', PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec })
  await write('POST', JOBS, { apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob', metadata, spec: { replicas: 1 } })
}

/** Labels come and go, and one pod is made again under its name. */
async function changePods(): Promise<void> {
  const patch = (name: string, labels: object): Promise<void> =>
    write('PATCH', `${PODS}/${name}`, { metadata: { labels } }, 'application/merge-patch+json')
  await patch('b', { i: 'a' })
  await patch('a', { i: null, n: null })
  await patch('b', { i: 'b' })
  await write('DELETE', `${PODS}/c`)
  await makeObjects('c')
  await patch('a', { i: 'a' })
}

type List = { metadata: { resourceVersion: string }; items: GivenObject[] }

async function readList(path: string): Promise<List> {
  return JSON.parse((await askReal({ path })).text) as List
}

async function readObjects(): Promise<GivenObject[]> {
  const lists = KINDS.map(async ([path, apiVersion, kind]) =>
    (await readList(path)).items.map(item => ({ ...item, apiVersion, kind })),
  )
  return (await Promise.all(lists)).flat()
}

async function readChanges(since: string): Promise<GivenChange[]> {
  const { text } = await askReal({ path: `${PODS}?watch=1&timeoutSeconds=1&resourceVersion=${since}` })
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as GivenChange)
}
