/**
 * The protocol of the Kubernetes API over an abstract request and response, so that a real listener and the virtual network of
 * config tests serve the same: discovery, lists, watches and single objects, for reading only.
 */
import type { Clock } from '../../component.ts'
import { clientOf, denied, isCovered, type Access, type AccessToken, type Client, type PolicyRule } from './access.ts'
import { aggregatedDiscovery, coreVersions, groupInfo, groupList, resourceList, versionInfo } from './discovery.ts'
import { flag, parseListOptions, type ListOptions } from './list-options.ts'
import { badRevision, parseRevision, readPage, requiredRevision } from './list.ts'
import type { ObjectStore } from './object-store.ts'
import { checkListness, negotiate, negotiateDiscovery, representationOf, type Accepted } from './representation.ts'
import { parseRequestPath, type ResourcePath } from './request-path.ts'
import {
  guard,
  inPieces,
  JSON_TYPE,
  send,
  sendJson,
  sendPageNotFound,
  sendPieces,
  sendStatus,
  truncating,
} from './response.ts'
import type { ApiResponse } from './response.ts'
import { isBuiltInGroup, type Resource } from './resources.ts'
import { createServedResources, type ServedResourcesOptions } from './served-resources.ts'
import { failing, methodNotAllowed, noSuchResource, notFound, StatusError, tooLargeVersion } from './status.ts'
import { createWatches, writeError } from './watch.ts'

/** `url` is path and query; names of headers are lower case. */
export type ApiRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

export type KubernetesApiOptions = ServedResourcesOptions & {
  readonly clock: Clock
  /** Who sends none of these is answered 401. Without a list nobody needs one. */
  readonly tokens?: readonly AccessToken[]
  /** The one token there is, for a client that is allowed what follows. */
  readonly bearerToken?: string
  /** What the client may read; everything if this is missing. */
  readonly allow?: readonly PolicyRule[]
  /** What the client may not read, even if it is allowed. */
  readonly deny?: readonly PolicyRule[]
  /** What the client is called in a refusal. */
  readonly user?: string
  /** Answer watches with `sendInitialEvents`, as API servers from 1.34 on do. */
  readonly streamingLists?: boolean
}

/** What goes wrong, until something else is set. */
export type KubernetesApiFaults = {
  /** Every answer begins this much later. */
  readonly delayMs?: number
  /** Every request is answered with this status, in the words of an overwhelmed server. */
  readonly errorStatus?: number
  /** Answers end in the middle of a JSON document, watches in the middle of an event. */
  readonly truncate?: boolean
  /**
   * `drop` breaks all watches, and new ones at once. `hang` lets them stand and never writes to them again, not even when it is over,
   * as behind a firewall that forgot them. `expire` tells every new watch that its version is too old.
   */
  readonly watches?: 'drop' | 'hang' | 'expire'
  /** What nobody may read any more. As on real servers, watches that are open go on. */
  readonly deny?: readonly PolicyRule[]
}

export type KubernetesApi = {
  /** Answers a request. The returned function is called when the client is gone. */
  handle(request: ApiRequest, response: ApiResponse): () => void
  setFaults(faults: KubernetesApiFaults): void
  /** Tells the next watch that its version is too old, whatever it is. */
  expireNextWatch(): void
  /** How many watches are open and heard. */
  readonly watchCount: number
  /** Ends all watches; requests after this are answered 503. */
  close(): void
}

/** So long a request waits for a version that has not been yet. */
const FRESH_WAIT_MS = 3000
const AGGREGATED_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** One request under way. `onGone` takes what is to be undone when the client is gone. */
type Exchange = {
  readonly request: ApiRequest
  readonly query: URLSearchParams
  readonly response: ApiResponse
  /** The same, for watches: faults of single documents do not concern them. */
  readonly stream: ApiResponse
  client: Client
  onGone(undo: () => void): void
}

export function createKubernetesApi(store: ObjectStore, options: KubernetesApiOptions): KubernetesApi {
  const { clock, streamingLists = false } = options
  const anybody: Client = { user: options.user ?? 'gpucol', ...(options.allow && { rules: options.allow }) }
  const served = createServedResources(store, options)
  const watches = createWatches(store, clock)
  let faults: KubernetesApiFaults = {}
  let isClosed = false

  /** Looked up for every request: the one token may be replaced. */
  function currentTokens(): readonly AccessToken[] {
    const { tokens, bearerToken } = options
    return tokens ?? (bearerToken === undefined ? [] : [{ ...anybody, token: bearerToken }])
  }

  function answer(exchange: Exchange, path: string): void {
    const { request } = exchange
    const tokens = currentTokens()
    if (tokens.length > 0) exchange.client = clientOf(request.headers['authorization'], tokens)
    if (faults.errorStatus !== undefined) throw failing(faults.errorStatus)
    const target = parseRequestPath(path)
    if (target.to === 'resource') return answerResource(exchange, target)
    if (target.to === 'nothing') return sendPageNotFound(exchange.response)
    if (request.method !== 'GET') throw methodNotAllowed()
    switch (target.to) {
      case 'health':
        return send(exchange.response, 200, 'ok', 'text/plain; charset=utf-8')
      case 'version':
        return sendJson(exchange.response, 200, versionInfo(streamingLists))
      case 'core':
      case 'groups':
        return answerDiscovery(exchange, target.to === 'core')
      case 'group': {
        const resources = served.groups().get(target.group)
        if (resources === undefined) return sendPageNotFound(exchange.response)
        return sendJson(exchange.response, 200, groupInfo(target.group, resources))
      }
      case 'group version': {
        const list = resourceList(served.groups(), target.group, target.version)
        if (list === undefined) return answerNoSuchResource(exchange, target.group)
        return sendJson(exchange.response, 200, list)
      }
    }
  }

  function answerDiscovery({ request, response }: Exchange, isCore: boolean): void {
    if (negotiateDiscovery(request.headers['accept']) === 'aggregated') {
      return sendJson(response, 200, aggregatedDiscovery(served.groups(), isCore), AGGREGATED_TYPE)
    }
    const groups = served.groups()
    sendJson(response, 200, isCore ? coreVersions(groups, request.headers['host'] ?? '') : groupList(groups))
  }

  /** Unknown resources of built-in groups have a Status; for everything else there is nobody who could give one. */
  function answerNoSuchResource({ response }: Exchange, group: string): void {
    if (isBuiltInGroup(group)) throw noSuchResource()
    sendPageNotFound(response)
  }

  function answerResource(exchange: Exchange, path: ResourcePath): void {
    const { request, query } = exchange
    const isWatch = path.isWatch || (path.name === undefined && flag(query, 'watch') === true)
    authorize(exchange.client, { ...path, verb: isWatch ? 'watch' : path.name === undefined ? 'list' : 'get' })

    const resource = served.find(path.group, path.version, path.plural)
    if (resource === undefined || !fitsScope(resource, path)) return answerNoSuchResource(exchange, path.group)
    if (request.method !== 'GET') throw methodNotAllowed()
    const accepted = negotiate(request.headers['accept'])
    if (path.name !== undefined && !isWatch) return answerGet(exchange, path, resource, accepted)

    if (path.isWatch) query.set('watch', '1')
    const listOptions = parseListOptions(query, resource, streamingLists)
    if (listOptions.watch) answerWatch(exchange, path, resource, accepted, listOptions)
    else answerList(exchange, path, resource, accepted, listOptions)
  }

  function authorize({ user, rules }: Client, access: Access): void {
    const isAllowed = rules === undefined || isCovered(access, rules)
    if (!isAllowed || isCovered(access, options.deny ?? []) || isCovered(access, faults.deny ?? [])) {
      throw denied(user, access)
    }
  }

  function answerGet(exchange: Exchange, path: ResourcePath, resource: Resource, accepted: Accepted): void {
    const name = path.name!
    if (path.subresource !== undefined && path.subresource !== 'status') {
      throw resource.builtIn ? noSuchResource() : notFound(resource, name)
    }
    const version = exchange.query.get('resourceVersion') ?? ''
    const revision = parseRevision(version)
    if (revision === undefined) throw badRevision(version)
    whenReached(exchange, revision, () => {
      const key = path.namespace === undefined ? name : `${path.namespace}/${name}`
      const object = store.collection(resource.group, resource.kind).get(key)
      if (object === undefined) throw notFound(resource, name)
      checkListness(accepted, false, resource)
      const text = representationOf(resource, path.version, accepted).object(object)
      send(exchange.response, 200, `${text}\n`, JSON_TYPE)
    })
  }

  function answerList(
    exchange: Exchange,
    path: ResourcePath,
    resource: Resource,
    accepted: Accepted,
    listOptions: ListOptions,
  ): void {
    whenReached(exchange, requiredRevision(listOptions), () => {
      const collection = store.collection(resource.group, resource.kind)
      const page = readPage(collection, path.namespace, listOptions, store.revision)
      checkListness(accepted, true, resource)
      const representation = representationOf(resource, path.version, accepted)
      const [before, after] = representation.list(page.metadata, page.objects.length === 0)
      const pieces = inPieces(before, page.objects.values().map(representation.item), after)
      sendPieces(exchange.response, pieces)
    })
  }

  function answerWatch(
    exchange: Exchange,
    path: ResourcePath,
    resource: Resource,
    accepted: Accepted,
    listOptions: ListOptions,
  ): void {
    const { resourceVersion, sendInitialEvents, allowWatchBookmarks, labelSelector, fieldSelector } = listOptions
    const revision = parseRevision(resourceVersion)
    if (revision === undefined) throw badRevision(resourceVersion)
    const { stream } = exchange
    function start(): void {
      const stop = watches.start(
        {
          collection: store.collection(resource.group, resource.kind),
          representation: representationOf(resource, path.version, accepted),
          namespace: resource.namespaced ? path.namespace : undefined,
          node: fieldSelector.exactly('spec.nodeName'),
          accepts: object =>
            (path.name === undefined || object.metadata.name === path.name) &&
            labelSelector.matches(object.metadata.labels) &&
            fieldSelector.matches(object),
          after: revision === 0 ? undefined : revision,
          initialEvents: sendInitialEvents ?? revision === 0,
          initialEventsEnd: sendInitialEvents === true && allowWatchBookmarks,
          bookmarks: allowWatchBookmarks,
          timeoutSeconds: listOptions.timeoutSeconds,
        },
        stream,
      )
      exchange.onGone(stop)
    }
    stream.head(200, { 'content-type': JSON_TYPE })
    // Only who wants the state of a moment waits for it; who wants what comes after it has time.
    if (sendInitialEvents !== true || store.revision >= revision!) return start()
    const cancel = clock.after(FRESH_WAIT_MS, () => {
      if (store.revision >= revision!) start()
      else writeError(stream, tooLargeVersion(resourceVersion, store.revision))
    })
    exchange.onGone(cancel)
  }

  /** Runs when the store has reached a revision; after a while the client is told that it asks for the future. */
  function whenReached(exchange: Exchange, revision: number, run: () => void): void {
    if (store.revision >= revision) return run()
    const cancel = clock.after(FRESH_WAIT_MS, () =>
      attempt(exchange.response, () => {
        if (store.revision < revision) throw tooLargeVersion(String(revision), store.revision)
        run()
      }),
    )
    exchange.onGone(cancel)
  }

  function attempt(response: ApiResponse, run: () => void): void {
    try {
      run()
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      sendStatus(response, error)
    }
  }

  return {
    handle(request, response) {
      const undo = new Set<() => void>()
      const [path] = request.url.split('?', 1) as [string]
      const { guarded, release } = guard(response, clock)
      const exchange: Exchange = {
        request,
        query: new URLSearchParams(request.url.slice(path.length)),
        response: faults.truncate === true ? truncating(guarded) : guarded,
        stream: guarded,
        client: anybody,
        onGone: run => undo.add(run),
      }
      function begin(): void {
        attempt(exchange.response, () => {
          if (isClosed) throw failing(503)
          answer(exchange, path)
        })
      }
      const { delayMs = 0 } = faults
      if (delayMs > 0) exchange.onGone(clock.after(delayMs, begin))
      else begin()
      return () => {
        release()
        for (const run of undo) run()
      }
    },
    setFaults(next) {
      faults = next
      watches.misbehave(next.watches ?? (next.truncate === true ? 'truncate' : undefined))
    },
    expireNextWatch: () => watches.expireNext(),
    get watchCount() {
      return watches.size
    },
    close() {
      isClosed = true
      watches.close()
    },
  }
}

/** A single object of a namespaced kind has a namespace in its path; what has no namespace never has. */
function fitsScope(resource: Resource, path: ResourcePath): boolean {
  return resource.namespaced ? path.namespace !== undefined || path.name === undefined : path.namespace === undefined
}
