/** The units that catalogs may name: base units, which facts have, and those that lead to a base unit by an exact factor. */
import { combine, inverse, ONE, scaleOf, type Scale } from '../model/scale.ts'

type Unit = { readonly base: string; readonly scale: Scale }

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB

const UNITS: ReadonlyMap<string, Unit> = new Map([
  ...base('1', { '%': scaleOf(1, 100) }),
  ...base('By', {
    kB: scaleOf(1000),
    MB: scaleOf(1_000_000),
    GB: scaleOf(1_000_000_000),
    KiB: scaleOf(KIB),
    MiB: scaleOf(MIB),
    GiB: scaleOf(GIB),
  }),
  ...base('By/s', {
    'kB/s': scaleOf(1000),
    'MB/s': scaleOf(1_000_000),
    'GB/s': scaleOf(1_000_000_000),
    'KiB/s': scaleOf(KIB),
    'MiB/s': scaleOf(MIB),
  }),
  ...base('s', {
    ns: scaleOf(1, 1_000_000_000),
    us: scaleOf(1, 1_000_000),
    ms: scaleOf(1, 1000),
    min: scaleOf(60),
    h: scaleOf(3600),
  }),
  ...base('J', { uJ: scaleOf(1, 1_000_000), mJ: scaleOf(1, 1000), kJ: scaleOf(1000), Wh: scaleOf(3600) }),
  ...base('W', { mW: scaleOf(1, 1000), kW: scaleOf(1000) }),
  ...base('Hz', { kHz: scaleOf(1000), MHz: scaleOf(1_000_000), GHz: scaleOf(1_000_000_000) }),
  ...base('{core}', { '{millicore}': scaleOf(1, 1000), '{nanocore}': scaleOf(1, 1_000_000_000) }),
  ...base('V', { mV: scaleOf(1, 1000) }),
  ...base('Cel', {}),
])

function base(name: string, others: Readonly<Record<string, Scale>>): [string, Unit][] {
  const units = Object.entries({ [name]: ONE, ...others })
  return units.map(([unit, scale]) => [unit, { base: name, scale }])
}

/** A fact is in a base unit, or in what is counted (`{error}`), or has none. */
export function isBaseUnit(unit: string): boolean {
  return unit === '' || isCount(unit) || UNITS.get(unit)?.base === unit
}

export function isUnit(unit: string): boolean {
  return unit === '' || isCount(unit) || UNITS.has(unit)
}

/** For suggestions. */
export function unitNames(): readonly string[] {
  return [...UNITS.keys()]
}

/** What to multiply a number by that is in one unit to have it in another; undefined if that cannot be. */
export function scaleBetween(from: string, to: string): Scale | undefined {
  if (from === to) return ONE
  const [source, target] = [UNITS.get(from), UNITS.get(to)]
  if (source === undefined || target === undefined || source.base !== target.base) return undefined
  return combine(source.scale, inverse(target.scale))
}

function isCount(unit: string): boolean {
  return /^\{[a-z_]+\}$/.test(unit) && !UNITS.has(unit)
}
