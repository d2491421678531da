/** Long answers to clients that read slowly: they are made as they are read, and changes meanwhile are not lost. */
import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../../pipeline/clock/virtual-clock.ts'
import { createKubernetesApi, type KubernetesApi } from '../../../../pipeline/simulator/kubernetes-api/handler.ts'
import { createObjectStore, type ObjectStore } from '../../../../pipeline/simulator/kubernetes-api/object-store.ts'
import { pod } from './test-api.ts'

const COUNT = 400
const STREAM = '/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1'

/** Takes one chunk at a time, when told to. */
function slowReader(api: KubernetesApi, url: string) {
  let text = ''
  let chunks = 0
  let isOver = false
  let resume: (() => void) | undefined
  const gone = api.handle(
    { method: 'GET', url, headers: {} },
    {
      head() {},
      chunk(more) {
        text += more
        chunks++
      },
      end: () => (isOver = true),
      fail: () => (isOver = true),
      waits(then) {
        resume = then
        return true
      },
    },
  )
  return {
    gone,
    get text() {
      return text
    },
    get chunks() {
      return chunks
    },
    get isOver() {
      return isOver
    },
    /** Whether there was anybody who waited for that. */
    read(): boolean {
      const then = resume
      resume = undefined
      then?.()
      return then !== undefined
    },
  }
}

function largeCluster(historyLimit = 10_000): { store: ObjectStore; api: KubernetesApi } {
  const store = createObjectStore({ historyLimit })
  const labels = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`label-${i}`, 'x'.repeat(50)]))
  store.replaceAll(Array.from({ length: COUNT }, (_, i) => pod(`pod-${i}`, { labels })))
  return { store, api: createKubernetesApi(store, { clock: createVirtualClock(0), streamingLists: true }) }
}

function eventsIn(text: string): { type: string; object: { metadata: { name?: string; annotations?: object } } }[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as ReturnType<typeof eventsIn>[number])
}

describe('a slow client of the Kubernetes API', () => {
  it('gets a long list piece by piece, of the moment at which it asked', () => {
    const { store, api } = largeCluster()
    const reader = slowReader(api, '/api/v1/pods')
    assert.equal(reader.chunks, 1)
    store.apply([{ type: 'DELETED', object: pod('pod-399') }])
    while (reader.read());
    assert.ok(reader.isOver && reader.chunks > 3)
    assert.equal((JSON.parse(reader.text) as { items: unknown[] }).items.length, COUNT)
  })

  it('gets the present state by a watch piece by piece, then what changed meanwhile, then the end of it', () => {
    const { store, api } = largeCluster()
    const reader = slowReader(api, STREAM)
    assert.equal(reader.chunks, 1)
    store.apply([{ type: 'MODIFIED', object: pod('pod-0', { labels: { changed: 'yes' } }) }])
    assert.equal(reader.chunks, 1)
    while (reader.read());
    const events = eventsIn(reader.text)
    assert.equal(events.filter(({ type }) => type === 'ADDED').length, COUNT)
    assert.deepEqual(
      events.slice(COUNT).map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`),
      ['MODIFIED pod-0', 'BOOKMARK '],
    )
    store.apply([{ type: 'DELETED', object: pod('pod-0') }])
    assert.equal(eventsIn(reader.text).at(-1)!.type, 'DELETED')
  })

  it('is cut off if more has changed meanwhile than is remembered', () => {
    const { store, api } = largeCluster(10)
    const reader = slowReader(api, STREAM)
    for (let i = 0; i < 100; i++) {
      store.apply([{ type: 'MODIFIED', object: pod('pod-0', { labels: { n: String(i) } }) }])
    }
    while (reader.read());
    assert.ok(reader.isOver)
    assert.equal(api.watchCount, 0)
  })

  it('costs nothing any more when it is gone', () => {
    const { api } = largeCluster()
    const reader = slowReader(api, STREAM)
    reader.gone()
    reader.read()
    assert.equal(reader.chunks, 1)
    assert.equal(api.watchCount, 0)
  })
})
