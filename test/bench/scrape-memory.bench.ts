/**
 * How much the scraper keeps for each series, besides the label sets that it shares with everybody. How many bytes label blocks have is
 * shown beside it: they are label sets as the target writes them, and most are kept packed.
 */
import { createTextReader, type TextReader } from '../../pipeline/formats/prometheus-text.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { collectGarbage } from '../support/garbage.ts'
import { DCGM_SERIES, dcgmPayload, KSM_LINES_PER_POD, kubeStatePayload } from './payloads.ts'
import { print } from './measure.ts'

const TARGETS = 1000
const PODS = 5000

await measureMemory(
  'dcgm, 1,000 targets',
  TARGETS * DCGM_SERIES,
  Array.from({ length: TARGETS }, (_, target) => dcgmPayload(target, 0)),
  payloads => payloads.map((payload, target) => learn([payload, dcgmPayload(target, 1)])),
)
await measureMemory(
  'kube-state-metrics in any order, one target',
  PODS * KSM_LINES_PER_POD,
  [kubeStatePayload(PODS, 0)],
  payloads => [learn([payloads[0]!, ...[1, 2, 3].map(scrape => kubeStatePayload(PODS, scrape))])],
)

function learn(payloads: readonly Buffer[]): { reader: TextReader; layout: Layout } {
  const reader = createTextReader()
  let layout: Layout | undefined
  for (const payload of payloads) {
    reader.begin('text')
    reader.push(payload)
    layout = reader.finish().layout
  }
  return { reader, layout: layout! }
}

type Target = ReturnType<typeof learn>

async function measureMemory(
  what: string,
  series: number,
  payloads: readonly Buffer[],
  make: (payloads: readonly Buffer[]) => Target[],
): Promise<void> {
  const before = await memory()
  let targets: Target[] | undefined = make(payloads)
  const all = (await memory()) - before
  const labels = targets.map(({ layout }) => layout.labels.slice())
  targets = undefined
  const ofLabels = (await memory()) - before
  const ofBlocks = blockBytes(payloads)
  print(`${what}: state beyond label sets`, (all - ofLabels) / series, 'bytes/series')
  print(`${what}: label blocks, as they are written`, ofBlocks / series, 'bytes/series')
  print(`${what}: label sets`, ofLabels / series, 'bytes/series')
  if (labels.length === 0) throw new Error('the label sets were collected')
}

/** The bytes of the distinct label blocks of each payload. */
function blockBytes(payloads: readonly Buffer[]): number {
  let bytes = 0
  for (const payload of payloads) {
    const blocks = new Set(Array.from(payload.toString('latin1').matchAll(/\{.*\} /g), ([block]) => block))
    for (const block of blocks) bytes += block.length
  }
  return bytes
}

async function memory(): Promise<number> {
  await collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
