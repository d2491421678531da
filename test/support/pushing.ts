/** An exporter that pushes numbers, each of them a point that comes once, and a destination that remembers what it was sent. */
import type { Emit, Encoder, Sent } from '../../exporters/delivery/payload.ts'
import { pushProperties, type PushConfig } from '../../exporters/delivery/push-config.ts'
import { createPush, type Push, type PushParts } from '../../exporters/delivery/push.ts'
import type { HttpAnswer } from '../../exporters/delivery/send.ts'
import type { Host } from '../../pipeline/component.ts'
import type { ResponseWriter } from '../../pipeline/http/virtual-network.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { EMPTY_LAYOUT } from '../../pipeline/model/layout.ts'
import { createSource } from './batch-from-text.ts'
import { configOf } from './config-of.ts'
import { testHost, type TestHost } from './test-host.ts'

export const PUSH_URL = 'http://destination.test/push'

const definition = { config: { type: 'object', properties: pushProperties, additionalProperties: false } } as const

export function pushConfig(given: object = {}): PushConfig {
  return configOf(definition, given)
}

/** `maxPoints` in a request, and how many shards the numbers go to: by their remainder. */
export type NumberOptions = { readonly maxPoints?: number; readonly shards?: number; readonly url?: string }

export function numberParts(options: NumberOptions = {}, compress: PushParts['compress'] = 'none'): PushParts {
  const { url = PUSH_URL } = options
  return {
    subject: url,
    compress,
    createEncoder: emit => numberEncoder(emit, options),
    request: ({ note = '' }) => ({ url, headers: { 'Content-Type': 'text/plain', 'X-Note': note } }),
    judge: judgeNumbers,
  }
}

function numberEncoder(emit: Emit, { maxPoints = Infinity, shards = 0 }: NumberOptions): Encoder {
  let begun = new Map<number, number[]>()
  function give(shard: number, numbers: number[]): void {
    begun.delete(shard)
    const body = Buffer.from(numbers.join(','))
    emit({ body, points: numbers.length, note: 'numbers', ...(shards > 0 && { shard }) })
    // Whoever kept the bytes instead of copying them is found out.
    body.fill(0)
  }
  return {
    add({ values }) {
      for (const value of values) {
        const shard = shards > 0 ? value % shards : 0
        const numbers = begun.get(shard) ?? []
        begun.set(shard, numbers)
        numbers.push(value)
        if (numbers.length >= maxPoints) give(shard, numbers)
      }
    },
    flush() {
      for (const [shard, numbers] of begun) give(shard, numbers)
      begun = new Map()
    },
    get pendingPoints() {
      return begun.values().reduce((sum, { length }) => sum + length, 0)
    },
  }
}

/** 2xx with `rejected N: why` in the body is a partial success; 4xx but for 429 are for ever, as most protocols have it. */
function judgeNumbers({ status, body }: HttpAnswer): Sent {
  const text = Buffer.from(body).toString()
  if (status >= 200 && status < 300) {
    const [, rejected, message = ''] = /^rejected (\d+): (.*)/.exec(text) ?? []
    return rejected === undefined
      ? { outcome: 'accepted' }
      : { outcome: 'accepted', rejectedPoints: Number(rejected), message }
  }
  const message = `answered ${status}${text === '' ? '' : `: ${text}`}`
  if (status < 500 && status !== 429) return { outcome: 'refused', message }
  return { outcome: 'retry', message, ...(status !== 429 && status !== 503 && { mayHaveArrived: true as const }) }
}

let lastNumber = 0

/** A batch of numbers that no other batch has. */
export function points(count: number): Batch {
  const values = Float64Array.from({ length: count }, () => ++lastNumber)
  return { source: SOURCE, timeMs: 0, outcome: 'ok', layout: EMPTY_LAYOUT, values }
}
const SOURCE = createSource()

export function numbersIn(text: string): number[] {
  return text.split(',').map(Number)
}

export type Destination = {
  /** What to answer; 200 if this does nothing. */
  answer: (numbers: readonly number[], response: ResponseWriter) => void
  /** Numbers of requests that were answered by 2xx, in order, repeated ones included. */
  readonly taken: number[]
}

/** A push that has started, towards a destination that takes everything until it is told otherwise. */
export async function startPush(
  given: object = {},
  options: NumberOptions = {},
  overrides: Partial<Host> = {},
): Promise<{ host: TestHost; push: Push; destination: Destination }> {
  const host = testHost(overrides) as TestHost
  const destination = serveNumbers(host, options.url)
  const push = createPush(host, pushConfig(given), numberParts(options))
  await push.start()
  return { host, push, destination }
}

export async function stopPush({ clock }: Pick<TestHost, 'clock'>, push: Push, withinMs = 0): Promise<void> {
  const stopped = push.stop(clock.monotonic() + withinMs)
  await clock.advance(withinMs)
  await stopped
}

export function serveNumbers(host: TestHost, url = PUSH_URL): Destination {
  const taken: number[] = []
  const destination: Destination = { answer: (_, response) => accept(response), taken }
  host.network.serve(url, ({ body }, response) => {
    const numbers = numbersIn(Buffer.from(body!).toString())
    destination.answer(numbers, {
      ...response,
      head(status, headers) {
        if (status >= 200 && status < 300) taken.push(...numbers)
        response.head(status, headers)
      },
    })
  })
  return destination
}

export function accept(response: ResponseWriter): void {
  answerWith(response, 200)
}

export function answerWith(
  response: ResponseWriter,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): void {
  response.head(status, headers)
  if (body !== '') response.chunk(body)
  response.end()
}
