/** The `vendor_parameters` of a config: what they are, and what is wrong with them. */
import type { Problem } from '../../pipeline/component.ts'
import type { Vendor } from '../../pipeline/catalog/vendor-schema.ts'
import { HEADER_VALUE } from '../../pipeline/http/header-syntax.ts'

type ParametersConfig = { readonly vendor_parameters: Readonly<Record<string, string>> }

export function parametersOf(config: ParametersConfig, vendor: Vendor | undefined): ReadonlyMap<string, string> {
  const parameters = new Map(Object.entries(config.vendor_parameters))
  for (const [name, { default: usual, values }] of Object.entries(vendor?.parameters ?? {})) {
    const value = parameters.get(name) ?? usual
    if (value !== undefined) parameters.set(name, values?.[value] ?? value)
  }
  return parameters
}

/** The parameters that a template has. */
export function namesIn(template: string): string[] {
  return Array.from(template.matchAll(/\{(\w+)\}/g), ([, name]) => name!)
}

type Use = { readonly hasUrl: boolean; readonly hasKey: boolean }

export function checkParameters(config: ParametersConfig, vendor: Vendor, vendorName: string, use: Use): Problem[] {
  return [...unknown(config, vendor, vendorName), ...missing(config, vendor, vendorName, use), ...wrong(config, vendor)]
}

function unknown({ vendor_parameters }: ParametersConfig, { parameters }: Vendor, vendorName: string): Problem[] {
  const known = Object.keys(parameters)
  const all = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  return Object.keys(vendor_parameters)
    .filter(name => !known.includes(name))
    .map(name => ({
      path: ['vendor_parameters', name],
      isOfKey: true,
      message: `vendor \`${vendorName}\` has no parameter \`${name}\`: ${all}`,
    }))
}

function missing(config: ParametersConfig, vendor: Vendor, vendorName: string, { hasUrl, hasKey }: Use): Problem[] {
  const given = parametersOf(config, vendor)
  const needed = [...(hasUrl ? [] : namesIn(vendor.url ?? '')), ...(hasKey ? [vendor.api_key?.username] : [])]
  return needed
    .filter(name => name !== undefined && !given.has(name))
    .map(name => ({
      path: ['vendor_parameters', name!],
      message: `vendor \`${vendorName}\` needs the parameter \`${name}\` in vendor_parameters: ${vendor.parameters[name!]?.about ?? ''}`,
    }))
}

/** Values that would make something else of the URL or of a header than the preset means. */
function wrong({ vendor_parameters }: ParametersConfig, vendor: Vendor): Problem[] {
  const { url = '', headers, api_key } = vendor
  const inUrl = new Set(namesIn(url))
  const inHeaders = new Set([...Object.values(headers).flatMap(namesIn), api_key?.username])
  return Object.entries(vendor_parameters).flatMap(([name, value]) => {
    const path = ['vendor_parameters', name]
    const values = Object.keys(vendor.parameters[name]?.values ?? {})
    if (values.length > 0) {
      return values.includes(value) ? [] : [{ path, message: `\`${name}\` must be one of ${values.join(', ')}` }]
    }
    const found = JSON.stringify(value)
    if (url.startsWith(`{${name}}`)) {
      if (/^https?:\/\//i.test(value) && URL.canParse(value)) return []
      return [{ path, message: `\`${name}\` must be a URL that begins with http:// or https://, found ${found}` }]
    }
    if (inUrl.has(name) && !PART_OF_URL.test(value)) {
      const expected = 'letters, digits, dots and dashes are expected'
      return [{ path, message: `\`${name}\` becomes a part of ${url}: ${expected}, found ${found}` }]
    }
    if (inHeaders.has(name) && !HEADER_VALUE.test(value)) {
      return [{ path, message: `\`${name}\` is sent as a header: it must be one line of plain text` }]
    }
    return []
  })
}

/** A host, with or without a port, or one step of a path. */
const PART_OF_URL = /^[\w.~-]+(:\d+)?$/
