/** Questions to which the simulated API and a real one must have the same answers, and what does not matter in an answer. */

export type Question = { readonly path: string; readonly method?: string; readonly accept?: string }

export type PlainAnswer = { readonly status: number; readonly contentType: string; readonly text: string }

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

/** In this namespace there are the pods a, b and c and the PyTorchJobs a, b and c, all with labels. */
export const NAMESPACE = 'gpucol-compare'

const PODS = '/api/v1/pods'
const JOBS = '/apis/kubeflow.org/v1/pytorchjobs'
const OWN_PODS = `/api/v1/namespaces/${NAMESPACE}/pods`
const OWN_JOBS = `/apis/kubeflow.org/v1/namespaces/${NAMESPACE}/pytorchjobs`

const PATHS = lines(`
  /healthz
  /foo
  /api/v2
  /apis/apps
  /apis/apps/v9
  /apis/kubeflow.org
  /apis/nope
  /apis/nope/v1
  /apis/nope/v1/foos
  /api/v1/foos
  /apis/apps/v1/foos
  /apis/kubeflow.org/v1/foos
  /api/v1/nodes
  /api/v1/nodes/nope
  /api/v1/namespaces
  /api/v1/namespaces/${NAMESPACE}
  /api/v1/namespaces/${NAMESPACE}/status
  /api/v1/namespaces/${NAMESPACE}/nodes
  /api/v1/namespaces/nope/pods
  /apis/apps/v1/deployments
  /apis/batch/v1/jobs
  ${PODS}
  ${PODS}/
  ${PODS}/a
  ${OWN_PODS}
  ${OWN_PODS}/a
  ${OWN_PODS}/a/status
  ${OWN_PODS}/a/nope
  ${OWN_PODS}/a?watch=1
  ${OWN_PODS}/a?resourceVersion=0
  ${OWN_PODS}/a?resourceVersion=abc
  ${OWN_PODS}/nope
  ${JOBS}
  ${JOBS}/a
  ${OWN_JOBS}
  ${OWN_JOBS}/a
  ${OWN_JOBS}/a/status
  ${OWN_JOBS}/a/scale
  ${OWN_JOBS}/nope
`)

const ACCEPT_PATHS = [PODS, JOBS, '/apis/batch/v1/jobs', `${OWN_PODS}/a`]
const ACCEPTS = lines(`
  ${METADATA}
  ${METADATA_LIST}
  ${METADATA_LIST.replace('v=v1', 'v=v1beta1')}
  application/json;as=Foo;g=meta.k8s.io;v=v1
  application/json;as=Foo;g=meta.k8s.io;v=v1, application/json
  application/json;q=0.1,${METADATA_LIST}
  text/html
  text/html, */*
`)

const LIST_QUERIES = lines(`
  limit=1
  limit=2
  limit=0
  limit=-1
  limit=abc
  limit=1&resourceVersion=0
  limit=1&labelSelector=i
  limit=2&labelSelector=i
  limit=1&fieldSelector=metadata.name%3Da
  limit=1&fieldSelector=metadata.name%3Da,metadata.namespace%3Dnope
  limit=1&fieldSelector=metadata.name!%3Da
  watch=0
  pretty=true&foo=bar
  continue=abc
  continue=!!!
  continue=abc&resourceVersion=5
  continue=${base64url('{"v":"v2","rv":1,"start":"x"}')}
  continue=${base64url('{"v":"meta.k8s.io/v1","rv":0,"start":"x"}')}
  continue=${base64url('{"v":"meta.k8s.io/v1","rv":3,"start":""}')}
  continue=${base64url('{"v":"meta.k8s.io/v1","rv":-1,"start":"/b"}')}
  continue=${base64url('{"v":"meta.k8s.io/v1","rv":-1,"start":"/b"}')}&resourceVersion=0
  continue=${base64url('{"v":"meta.k8s.io/v1","rv":-1,"start":"b"}')}&resourceVersion=5
  resourceVersion=abc
  resourceVersion=-1
  resourceVersion=0
  resourceVersion=1
  resourceVersion=1&resourceVersionMatch=NotOlderThan
  resourceVersion=99999999
  resourceVersion=99999999&resourceVersionMatch=Exact
  resourceVersionMatch=Exact
  resourceVersionMatch=Exact&resourceVersion=0
  resourceVersionMatch=Exact&continue=abc
  resourceVersionMatch=Foo&resourceVersion=3
  sendInitialEvents=true
`)

const LABEL_SELECTORS = lines(`
  app=
  app==x
  app=x,
  app=x=y
  app===x
  app=-x
  app=(x)
  app!=x
  app in (x,y)
  app in(x)
  app in (x,)
  app in (,x)
  app in ()
  app in (=)
  app in (x
  app in x
  app notin (x)
  app,i=a
  app,,i
  app>
  !app
  ! app
  !app=x
  !!app
  n>1
  n<5
  i>a
  i gt 1
  nope!=x
  nope notin (x)
  in
  notin notin (notin)
  a b
  a/b/c=x
  =x
  (
  !
  ,
`)

const FIELD_SELECTORS = lines(`
  metadata.name=a
  metadata.name==a
  metadata.name!=a
  metadata.name=a,metadata.name=b
  metadata.name=a\\,b
  metadata.name=a\\-b
  metadata.name=a=b
  metadata.name in (a)
  metadata.name
  metadata.namespace=nope
  metadata.labels.app=x
  spec.nodeName=
  spec.nodeName!=
  spec.host=n
  spec.hostNetwork=false
  status.phase=Pending
  status.phase!=Running,metadata.namespace=x
  foo=bar
  ,
`)
const FIELD_SELECTOR_PATHS = lines(`
  /api/v1/namespaces
  /api/v1/nodes
  /api/v1/services
  /apis/apps/v1/replicasets
  /apis/batch/v1/jobs
  /apis/resource.k8s.io/v1/resourceslices
  ${JOBS}
`)

const WATCH_QUERIES = lines(`
  timeoutSeconds=1
  timeoutSeconds=1&resourceVersion=0
  timeoutSeconds=1&resourceVersion=99999999
  timeoutSeconds=1&resourceVersion=abc
  timeoutSeconds=1&limit=1
  timeoutSeconds=1&labelSelector=i%3Da
  timeoutSeconds=1&fieldSelector=metadata.name%3Da
  timeoutSeconds=1&allowWatchBookmarks=1
  timeoutSeconds=1&sendInitialEvents=true
  timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan
  timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1
  timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=Exact
  timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan
  timeoutSeconds=1&resourceVersionMatch=NotOlderThan
  timeoutSeconds=1&resourceVersionMatch=Exact
  timeoutSeconds=abc
`)
const OLD_WATCHES = lines(`
  /api/v1/watch/namespaces/${NAMESPACE}
  /api/v1/watch/namespaces/${NAMESPACE}/pods
  /api/v1/watch/namespaces/${NAMESPACE}/pods/a
`)

const METHODS = ['POST', 'PUT', 'DELETE', 'HEAD', 'PATCH']

export const QUESTIONS: readonly Question[] = [
  ...PATHS.map(path => ({ path })),
  ...ACCEPT_PATHS.flatMap(path => ACCEPTS.map(accept => ({ path, accept }))),
  ...[OWN_PODS, OWN_JOBS].flatMap(path => LIST_QUERIES.map(query => ({ path: `${path}?${query}` }))),
  ...LABEL_SELECTORS.map(one => ({ path: `${OWN_PODS}?labelSelector=${encodeURIComponent(one)}` })),
  ...FIELD_SELECTORS.map(one => ({ path: `${OWN_PODS}?fieldSelector=${encodeURIComponent(one)}` })),
  ...FIELD_SELECTOR_PATHS.flatMap(path =>
    ['x%3D1', 'metadata.name%3Dnope'].map(one => ({ path: `${path}?fieldSelector=${one}` })),
  ),
  ...WATCH_QUERIES.map(query => ({ path: `${OWN_PODS}?watch=1&${query}` })),
  ...WATCH_QUERIES.map(query => ({ path: `${OWN_JOBS}?watch=1&${query}`, accept: METADATA })),
  ...OLD_WATCHES.map(path => ({ path: `${path}?timeoutSeconds=1` })),
  ...METHODS.map(method => ({ path: PODS, method })),
  { path: '/version', method: 'POST' },
]

/** Watches that are asked to resume from before some changes. */
export const RESUMED_WATCHES: readonly Question[] = lines(`
  timeoutSeconds=1
  timeoutSeconds=1&labelSelector=i%3Da
  timeoutSeconds=1&labelSelector=!i
  timeoutSeconds=1&labelSelector=n
  timeoutSeconds=1&fieldSelector=metadata.name%3Db
`).flatMap(query => [
  { path: `${OWN_PODS}?watch=1&${query}` },
  { path: `${OWN_PODS}?watch=1&${query}`, accept: METADATA },
])

function lines(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map(line => line.trim())
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}

/** An answer without what differs from server to server. */
export function comparable({ status, contentType, text }: PlainAnswer): unknown {
  const documents = documentsOf(text)
  return { status, contentType, documents: documents?.map(document => normalized(document, '')) ?? text }
}

function documentsOf(text: string): unknown[] | undefined {
  try {
    return [JSON.parse(text)]
  } catch {
    try {
      return text
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line) as unknown)
    } catch {
      return undefined
    }
  }
}

function normalized(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map(one => normalized(one, key))
  if (typeof value === 'string') return normalizedText(value, key)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(withoutMoment(value)).map(([name, one]) => [name, normalized(one, name)]))
}

type Document = {
  type?: string
  kind?: string
  apiVersion?: string
  object?: Document
  items?: unknown
  metadata?: { resourceVersion?: string; annotations?: unknown }
  code?: number
  reason?: string
}

/** Objects have the same version on both sides; what has the version of the moment has not. */
function withoutMoment(value: Document): object {
  const { type, object, items, metadata, code, reason } = value
  // In bookmarks of built-in kinds there are remains of an empty object.
  if (type === 'BOOKMARK') {
    return { type, kind: object?.kind, apiVersion: object?.apiVersion, annotations: object?.metadata?.annotations }
  }
  if (items !== undefined) return { ...value, metadata: { ...metadata, resourceVersion: 'of the moment' } }
  // Real ones accept more than JSON, and say so.
  return code === 406 ? { code, reason } : value
}

function normalizedText(text: string, key: string): string {
  if (key === 'continue' && text !== '') {
    const { rv, start, ...rest } = JSON.parse(Buffer.from(text, 'base64url').toString()) as {
      rv: number
      start: string
    }
    return JSON.stringify({ ...rest, start: start.replace(/^\//, ''), isInconsistent: rv < 0 })
  }
  return text
    .replace(/current: \d+/, 'current: N')
    .replace(/(continue key is not valid: )(illegal base64|invalid character|not a JSON).*/, '$1...')
    .replace(/(Invalid value: "[^"]*": )(a valid label|must be no more|not a valid label).*/, '$1...')
}
