/**
 * The text of one dcgm-exporter.
 *
 * Labels are rendered when a device changes hands; a scrape puts names, labels and numbers together. Everything is ASCII, so the
 * string is also the bytes.
 */
import { formatFixed, formatShortest } from '../go-number.ts'
import type { Device } from '../gpu.ts'
import type { SimulatedNode } from '../node.ts'
import { hashOf } from '../random.ts'
import { FIELDS, readDevice, type Field, type Reading } from './fields.ts'
import type { Generation } from './generations.ts'
import { hostOf, rowsFlip, rowsOf, type Row } from './rows.ts'

/** DCGM's "not supported" in an integer field. */
const BLANK = '9223372036854775794'

const XID_MESSAGES: Readonly<Record<number, string>> = {
  43: 'GPU stopped processing',
  79: 'GPU has fallen off the bus',
}

type Family = { readonly field: Field; readonly name: string; readonly header: string; format(value: number): string }

export type NodeRenderer = { render(timeMs: number): string }

export function createNodeRenderer(
  node: SimulatedNode,
  generation: Generation,
  collectIntervalMs: number,
): NodeRenderer {
  const families = familiesOf(generation)
  const flips = rowsFlip(node, generation)
  let rows: readonly Row[] = []
  let rowsVersion = -1
  let rowsSample = -1

  return {
    render(timeMs) {
      const sampleNumber = Math.floor(timeMs / collectIntervalMs)
      if (rowsVersion !== node.claimsVersion || (flips && rowsSample !== sampleNumber)) {
        rows = rowsOf(node, generation, sampleNumber)
        rowsVersion = node.claimsVersion
        rowsSample = sampleNumber
      }
      const readings = readingsOf(rows, timeMs, sampleNumber, sampleNumber * collectIntervalMs)
      let text = ''
      for (const family of families) text += renderFamily(family, generation, rows, readings)
      if (!generation.switchFields || node.pool.sharing !== 'whole') return text
      // The groups come out of a Go map, so which of them is first is a matter of luck, scrape by scrape.
      const switches = renderSwitches(node, generation, sampleNumber)
      return hashOf(node.index, Math.floor(timeMs / 1000)) & 1 ? text + switches : switches + text
    },
  }
}

const familiesByGeneration = new Map<Generation, readonly Family[]>()

function familiesOf(generation: Generation): readonly Family[] {
  let families = familiesByGeneration.get(generation)
  if (families === undefined) {
    const wanted = new Set(generation.fieldIds)
    families = FIELDS.filter(field => wanted.has(field.id)).map(field => makeFamily(field, generation))
    if (generation.writer === 'expfmt') families = families.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    familiesByGeneration.set(generation, families)
  }
  return families
}

function makeFamily(field: Field, generation: Generation): Family {
  const base = generation.naming === 'base' ? field.base : undefined
  const name = generation.naming === 'old' ? field.oldName! : `DCGM_FI_${base?.name ?? field.name}`
  const help = base?.help ?? field.help
  const type = generation.types[field.id] ?? field.type
  const { multiply = 1, divide = 1 } = base ?? {}
  const print = generation.writer === 'expfmt' ? formatShortest : field.number === 'integer' ? String : formatFixed
  return {
    field,
    name,
    header: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`,
    format: value => print((value * multiply) / divide),
  }
}

/** Those of one device are the same in all rows and families. */
function readingsOf(rows: readonly Row[], nowMs: number, sampleNumber: number, sampleMs: number): Reading[] {
  let device: Device | undefined
  let reading: Reading | undefined
  return rows.map(row => {
    if (row.device !== device || reading === undefined) {
      device = row.device
      reading = readDevice(device, nowMs, sampleNumber, sampleMs)
    }
    return reading
  })
}

function renderFamily(
  family: Family,
  generation: Generation,
  rows: readonly Row[],
  readings: readonly Reading[],
): string {
  const { field, name } = family
  let text = ''
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at]!
    const reading = readings[at]!
    if (row.onlyByProcess && field.ofPod === undefined) continue
    if (!field.onMig && row.device.mig !== undefined) continue
    const value =
      field.ofPod !== undefined && row.claim !== undefined ? field.ofPod(row.claim, reading) : field.value(reading)
    if (value === undefined) {
      if (generation.printsBlanks) text += `${name}${row.labels}} ${BLANK}\n`
    } else if (generation.xidLabels && field.id === 230) {
      if (value !== 0) text += `${name}${withXidLabels(row, value)}} ${family.format(value)}\n`
    } else {
      text += name + row.labels + '} ' + family.format(value) + '\n'
    }
  }
  return text === '' ? '' : family.header + text
}

function withXidLabels({ labels, podLabelsAt }: Row, code: number): string {
  const own = `,err_code="${code}",err_msg="${XID_MESSAGES[code] ?? 'Unknown Error'}"`
  return labels.slice(0, podLabelsAt) + own + labels.slice(podLabelsAt)
}

const SWITCHES = 4

/** Rows of NVSwitches have neither a GPU nor a pod. */
function renderSwitches(node: SimulatedNode, generation: Generation, sampleNumber: number): string {
  const name = 'DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT'
  let text = `# HELP ${name} Current temperature of the NVSwitch (in C).\n# TYPE ${name} gauge\n`
  for (let at = 0; at < SWITCHES; at++) {
    const celsius = 38 + (hashOf(node.index * SWITCHES + at, sampleNumber) % 5)
    text += `${name}{nvswitch="nvswitch${at}",${generation.hostLabel}="${hostOf(node, generation)}"} ${celsius}\n`
  }
  return text
}
