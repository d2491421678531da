/** From what a config and a vendor's preset say to what is done. */
import type { OtlpSettings } from '../../pipeline/catalog/otlp-settings.ts'
import type { Vendor } from '../../pipeline/catalog/vendor-schema.ts'
import { parseSize } from '../../pipeline/config/fields.ts'
import type { OtlpEncoderOptions } from '../../pipeline/formats/otlp-encoder.ts'
import type { NameRules } from '../../pipeline/formats/otlp-names.ts'
import { RESOURCE_TABLE, TARGET_ROWS } from '../../pipeline/formats/otlp-resource-table.ts'

const DEFAULTS = {
  encoding: 'proto',
  compression: 'gzip',
  temporality: 'cumulative',
  nan: 'keep',
  summaries: 'keep',
  max_points: 10_000,
  max_bytes: '1MiB',
  resource: 'entity',
  in_order: false,
} as const satisfies OtlpSettings

export type ResolvedSettings = OtlpSettings & { readonly [K in keyof typeof DEFAULTS]: NonNullable<OtlpSettings[K]> }

/** What the config says counts, then the vendor, then what fits everybody. Maps are put together. */
export function resolveSettings(config: OtlpSettings, vendor: Vendor | undefined): ResolvedSettings {
  const compression = config.compression ?? vendor?.settings.compression ?? DEFAULTS.compression
  const layers = [
    DEFAULTS,
    vendor?.settings ?? {},
    compression === 'none' ? (vendor?.uncompressed ?? {}) : {},
    config,
  ] as readonly OtlpSettings[]
  const resolved: Record<string, unknown> = {}
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) {
      if (value === undefined) continue
      const known = resolved[key]
      resolved[key] = isMap(value) && isMap(known) ? { ...known, ...value } : value
    }
  }
  return resolved as ResolvedSettings
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function encoderOptions(settings: ResolvedSettings): Omit<OtlpEncoderOptions, 'emit' | 'leftOut'> {
  return {
    encoding: settings.encoding,
    resourceTable: resourceTable(settings),
    resourceDefaults: new Map(Object.entries(settings.resource_defaults ?? {})),
    names: nameRules(settings),
    dropSummaries: settings.summaries === 'drop',
    dropNotANumber: settings.nan === 'drop',
    maxBuckets: settings.max_buckets ?? Infinity,
    maxAttributes: settings.max_attributes ?? Infinity,
    maxPoints: settings.max_points,
    maxBytes: parseSize(settings.max_bytes),
  }
}

/** What the config says comes first: of two labels for one attribute that is the one that counts. */
function resourceTable({ resource, resource_attributes = {} }: ResolvedSettings): ReadonlyMap<string, string> {
  const rows = RESOURCE_TABLE.filter(([label]) => resource === 'entity' || TARGET_ROWS.has(label))
  const all = new Map(Object.entries(resource_attributes))
  for (const [label, attribute] of rows) if (!all.has(label)) all.set(label, attribute)
  return new Map([...all].filter(([, attribute]) => attribute !== ''))
}

export function nameRules(settings: OtlpSettings): NameRules {
  const { attribute_keys: keys = {}, attribute_values: values = {}, metric_names: names = {} } = settings
  return {
    attributeCase: keys.case ?? 'keep',
    ...(keys.characters !== undefined && { badAttributeCharacters: allBut(keys.characters) }),
    ...(names.characters !== undefined && { badMetricCharacters: allBut(names.characters) }),
    ...(keys.first_characters !== undefined && { badAttributeStart: beginsOtherThan(keys.first_characters) }),
    ...(names.first_characters !== undefined && { badMetricStart: beginsOtherThan(names.first_characters) }),
    attributeKeyLength: keys.max_length ?? Infinity,
    attributeValueLength: values.max_length ?? Infinity,
    metricNameLength: names.max_length ?? Infinity,
    unitLength: settings.units?.max_length ?? Infinity,
    descriptionLength: settings.descriptions?.max_length ?? Infinity,
  }
}

function beginsOtherThan(characters: string): RegExp {
  return new RegExp(`^[^${characters}]`, 'u')
}

/** Throws where it is no set of characters. */
export function allBut(characters: string): RegExp {
  return new RegExp(`[^${characters}]`, 'gu')
}
