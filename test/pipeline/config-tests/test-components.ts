/** Components that show what a config test does to its world. */
import { defineProcessor, defineReceiver, type ConfigSchema } from '../../../pipeline/component.ts'
import { endBatch, type Batch, type Source } from '../../../pipeline/model/batch.ts'
import { EMPTY_LABELS, labelsFrom } from '../../../pipeline/model/labels.ts'
import { layoutFromSeries } from '../../../pipeline/model/layout.ts'
import { metricFrom } from '../../../pipeline/model/series.ts'

const config = {
  type: 'object',
  properties: { interval_ms: { type: 'integer', default: 10_000, description: 'From one batch to the next.' } },
  additionalProperties: false,
} as const satisfies ConfigSchema

function batchOf(source: Source, timeMs: number, name: string, value: number): Batch {
  const layout = layoutFromSeries([{ metric: metricFrom({ name }), labels: EMPTY_LABELS }])
  return { source, timeMs, outcome: 'ok', layout, values: Float64Array.of(value) }
}

/** Watches pods, and says every 10 s how many it knows: `pods 3`. */
export const podCounter = defineReceiver({
  type: 'pod_counter',
  summary: 'Counts pods.',
  config,
  example: {},
  create({ interval_ms }, { clock, network, id }, next) {
    const source: Source = { component: id, name: id, labels: labelsFrom([]) }
    const names = new Set<string>()
    let text = ''
    let cancelWatch = (): void => {}
    let cancelTimer = (): void => {}

    function watch(): void {
      const url = `${network.kubernetesUrl}/api/v1/pods?watch=true`
      const again = (): void => void (cancelWatch = clock.after(1000, watch))
      cancelWatch = network.request(
        { url, timeoutMs: Infinity },
        {
          head() {},
          chunk(bytes) {
            text += Buffer.from(bytes).toString()
            const lines = text.split('\n')
            text = lines.pop()!
            lines.forEach(line => apply(JSON.parse(line) as Event))
          },
          end: again,
          failed: again,
        },
      )
    }
    type Event = { type: string; object: { metadata?: { name?: string } } }
    function apply({ type, object }: Event): void {
      const name = object.metadata?.name
      if (name === undefined) return
      if (type === 'DELETED') names.delete(name)
      else names.add(name)
    }
    function tell(): void {
      cancelTimer = clock.after(interval_ms, tell)
      next(batchOf(source, clock.now(), 'pods', names.size))
    }
    return {
      start() {
        watch()
        cancelTimer = clock.after(interval_ms, tell)
      },
      stop() {
        cancelWatch()
        cancelTimer()
        next(endBatch(source, clock.now(), 'removed'))
      },
    }
  },
})

/** Hands on what it got only when it is told to: `held 2` is the number of batches since the last time. */
export const hold = defineProcessor({
  type: 'hold',
  summary: 'Holds batches back.',
  config: { type: 'object', properties: {}, additionalProperties: false },
  example: {},
  create(_, { clock }, next) {
    const source: Source = { component: 'hold', name: 'hold', labels: EMPTY_LABELS }
    let held = 0
    return {
      consume() {
        held++
      },
      flush() {
        next(batchOf(source, clock.now(), 'held', held))
        held = 0
      },
    }
  },
})

/** Counts its starts in its state: `starts 1`, and `persistent 1` if that survives a restart. */
export const startCounter = defineReceiver({
  type: 'start_counter',
  summary: 'Counts starts.',
  config: { type: 'object', properties: {}, additionalProperties: false },
  example: {},
  create(_, { clock, storage, id }, next) {
    const source: Source = { component: id, name: id, labels: EMPTY_LABELS }
    const other: Source = { ...source }
    const store = storage.state(id)
    return {
      async start() {
        const starts = ((await store.load()).get('starts')?.[0] ?? 0) + 1
        await store.write(new Map([['starts', Uint8Array.of(starts)]]))
        next(batchOf(source, clock.now(), 'starts', starts))
        next(batchOf(other, clock.now(), 'persistent', storage.persistent ? 1 : 0))
      },
    }
  },
})

/** Throws from a timer, or cannot be started. */
export const broken = defineReceiver({
  type: 'broken',
  summary: 'Does not work.',
  config: {
    type: 'object',
    properties: {
      when: { type: 'string', enum: ['create', 'start', 'timer'], default: 'timer', description: 'When.' },
    },
    additionalProperties: false,
  } as const,
  example: {},
  create({ when }, { clock }) {
    if (when === 'create') throw new Error('not even made')
    return {
      start() {
        if (when === 'start') throw new Error('no engine')
        clock.after(20_000, () => {
          throw new TypeError('what is this')
        })
      },
    }
  },
})
