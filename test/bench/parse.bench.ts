/** What reading scraped text costs, next to merely looking at its bytes and to a parser made of regular expressions. */
import { createTextReader, type TextReader } from '../../pipeline/formats/prometheus-text.ts'
import { DCGM_SERIES, dcgmPayload, KSM_LINES_PER_POD, kubeStatePayload } from './payloads.ts'
import { measure, print } from './measure.ts'

const TARGETS = 200
const SCRAPES = 4
const PODS = 1000

// Scrapes take turns: repeating one flatters whatever branches on digits.
const scrapes = Array.from({ length: SCRAPES }, (_, scrape) =>
  Array.from({ length: TARGETS }, (_, target) => dcgmPayload(target, scrape)),
)
const readers = scrapes[0]!.map(() => createTextReader())
let turn = 0
function nextScrapes(): Buffer[] {
  return scrapes[turn++ % SCRAPES]!
}

const dcgm = measure(TARGETS * DCGM_SERIES, {
  steady: () => nextScrapes().map((payload, target) => read(readers[target]!, payload)),
  scan: () => nextScrapes().map(payload => payload.indexOf(0)),
  words: () => nextScrapes().map(sumWords),
  regex: () => nextScrapes().map(parseWithRegex),
  cold: () => nextScrapes().map(payload => read(createTextReader(), payload)),
})
const steady = dcgm.get('steady')!
print('steady parse of dcgm payloads', steady, 'ns/sample')
print('plain byte scan (native search for a byte that is not there)', dcgm.get('scan')!, 'ns/sample')
print('plain byte scan (eight bytes at a time, same language)', dcgm.get('words')!, 'ns/sample')
print('regex line parser', dcgm.get('regex')!, 'ns/sample')
print('steady parse against the native byte scan', steady / dcgm.get('scan')!, 'times')
print('steady parse against the byte scan in the same language', steady / dcgm.get('words')!, 'times')
print('regex line parser against steady parse', dcgm.get('regex')! / steady, 'times')
print('learning a new target', 1000 / dcgm.get('cold')!, 'M series/s')

const kubeState = Array.from({ length: SCRAPES }, (_, scrape) => kubeStatePayload(PODS, scrape))
const kubeStateReader = createTextReader()
const anyOrder = measure(PODS * KSM_LINES_PER_POD, {
  anyOrder: () => read(kubeStateReader, kubeState[turn++ % SCRAPES]!),
  regex: () => parseWithRegex(kubeState[turn++ % SCRAPES]!),
})
print('any order, kube-state-metrics payloads', anyOrder.get('anyOrder')!, 'ns/sample')
print('regex line parser on the same', anyOrder.get('regex')!, 'ns/sample')
print('regex line parser against any order', anyOrder.get('regex')! / anyOrder.get('anyOrder')!, 'times')

function read(reader: TextReader, payload: Uint8Array): Float64Array {
  reader.begin('text')
  reader.push(payload)
  return reader.finish().values
}

function sumWords(payload: Buffer): number {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  let sum = 0
  for (let p = 0; p + 8 <= payload.length; p += 8) sum += view.getFloat64(p, true)
  return sum
}

/** What one writes first: split into lines, match each, collect the labels. */
function parseWithRegex(payload: Buffer): unknown[] {
  const samples = []
  for (const line of payload.toString().split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? +(\S+)(?: +(\d+))?$/.exec(line)
    if (match === null) continue
    const labels: Record<string, string> = {}
    for (const [, name, value] of match[2]!.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g)) labels[name!] = value!
    samples.push({ name: match[1], labels, value: Number(match[3]) })
  }
  return samples
}
