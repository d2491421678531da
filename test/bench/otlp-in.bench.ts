/** What it costs to take metrics by OTLP: requests of the same series again and again, and of new ones, beside merely parsing the JSON. */
import type { Batch } from '../../pipeline/model/batch.ts'
import { createVirtualClock } from '../../pipeline/clock/virtual-clock.ts'
import { createPushes, type Pushes } from '../../receivers/otlp/push-batches.ts'
import { Sources } from '../../receivers/otlp/sources.ts'
import { heapBytes } from '../support/garbage.ts'
import { measure, print } from './measure.ts'
import { finishNow } from '../../pipeline/formats/render-work.ts'

const NODES = 50
const METRICS = 25
const GPUS = 8
const POINTS = NODES * METRICS * GPUS
const REQUESTS = 4

const json = Array.from({ length: REQUESTS }, (_, i) => Buffer.from(JSON.stringify(request(i))))
const protobuf = Array.from({ length: REQUESTS }, (_, i) => protobufRequest(i))
let turn = 0
let samples = 0

function createPushed(): Pushes {
  const sources = new Sources('otlp', { sources: 1e4, series: 1e7, seriesPerSource: 1e6, attributesPerPoint: 128 })
  const take = ({ values }: Batch): void => void (samples += values.length)
  return createPushes(sources, createVirtualClock(0), take, () => {})
}

const jsonPushes = createPushed()
const protobufPushes = createPushed()
const results = measure(POINTS, {
  protobuf: () => finishNow(protobufPushes.take(protobuf[turn++ % REQUESTS]!, 'protobuf')),
  json: () => finishNow(jsonPushes.take(json[turn++ % REQUESTS]!, 'json')),
  parse: () => JSON.parse(json[turn++ % REQUESTS]!.toString()),
  newSeries: () => finishNow(createPushed().take(protobuf[turn++ % REQUESTS]!, 'protobuf')),
})
print('request of 10,000 points in protobuf', protobuf[0]!.length / 1024, 'KiB')
print('request of 10,000 points in JSON', json[0]!.length / 1024, 'KiB')
print('protobuf', results.get('protobuf')!, 'ns/point')
print('JSON', results.get('json')!, 'ns/point')
print('JSON.parse alone', results.get('parse')!, 'ns/point')
print('protobuf, all series new', results.get('newSeries')!, 'ns/point')
const before = await heapBytes()
const kept = createPushed()
finishNow(kept.take(protobuf[0]!, 'protobuf'))
print('kept for each series', ((await heapBytes()) - before) / POINTS, 'bytes')
kept.expire(1e9)
if (samples === 0) throw new Error('nothing was taken')

type Attributes = readonly (readonly [string, string])[]

function resourceOf(node: number): Attributes {
  return [
    ['service.name', 'gpucol-agent'],
    ['service.instance.id', `node-${node}`],
    ['host.name', `node-${node}.gpu.example.com`],
    ['k8s.cluster.name', 'training-east'],
  ]
}

function attributesOf(node: number, gpu: number): Attributes {
  return [
    ['hw.id', `GPU-${node}-${gpu}-5fd4f087-86f3-7a43`],
    ['gpu', String(gpu)],
    ['k8s.namespace.name', 'team-a'],
    ['k8s.pod.name', `train-${node}-${gpu}`],
    ['workload', `llm-${node % 7}`],
  ]
}

function valueOf(request: number, metric: number, gpu: number): number {
  return (request * 7919 + metric * 131 + gpu * 17) / 8
}

function request(number: number): unknown {
  const list = (attributes: Attributes) => attributes.map(([key, text]) => ({ key, value: { stringValue: text } }))
  return {
    resourceMetrics: Array.from({ length: NODES }, (_, node) => ({
      resource: { attributes: list(resourceOf(node)) },
      scopeMetrics: [
        {
          scope: { name: 'gpucol' },
          metrics: Array.from({ length: METRICS }, (_, metric) => ({
            name: `hw.gpu.metric_${metric}`,
            unit: '1',
            description: 'A metric of a GPU.',
            gauge: {
              dataPoints: Array.from({ length: GPUS }, (_, gpu) => ({
                attributes: list(attributesOf(node, gpu)),
                timeUnixNano: timeOf(),
                asDouble: valueOf(number, metric, gpu),
              })),
            },
          })),
        },
      ],
    })),
  }
}

function timeOf(): string {
  return `${1_700_000_000}000000000`
}

function protobufRequest(number: number): Buffer {
  const nodes = Array.from({ length: NODES }, (_, node) => {
    const metrics = Array.from({ length: METRICS }, (_, metric) => {
      const points = Array.from({ length: GPUS }, (_, gpu) => {
        const numbers = Buffer.alloc(18)
        numbers[0] = (3 << 3) | 1
        numbers.writeBigUInt64LE(BigInt(timeOf()), 1)
        numbers[9] = (4 << 3) | 1
        numbers.writeDoubleLE(valueOf(number, metric, gpu), 10)
        return part(1, numbers, ...attributesOf(node, gpu).map(attribute => keyValue(7, attribute)))
      })
      const texts = [part(1, `hw.gpu.metric_${metric}`), part(2, 'A metric of a GPU.'), part(3, '1')]
      return part(2, ...texts, part(5, ...points))
    })
    const resource = part(1, ...resourceOf(node).map(attribute => keyValue(1, attribute)))
    return part(1, resource, part(2, part(1, part(1, 'gpucol')), ...metrics))
  })
  return Buffer.concat(nodes)
}

function keyValue(field: number, [key, text]: readonly [string, string]): Buffer {
  return part(field, part(1, key), part(2, part(1, text)))
}

function part(field: number, ...pieces: (Buffer | string)[]): Buffer {
  const body = Buffer.concat(pieces.map(piece => Buffer.from(piece as string)))
  const length: number[] = []
  let rest = body.length
  for (; rest >= 0x80; rest >>>= 7) length.push((rest & 0x7f) | 0x80)
  return Buffer.concat([Buffer.of((field << 3) | 2, ...length, rest), body])
}
