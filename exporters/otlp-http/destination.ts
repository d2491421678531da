/** Where requests go and what is sent along: from the config alone, or with the help of a vendor's preset. */
import type { Problem } from '../../pipeline/component.ts'
import type { Vendor } from '../../pipeline/catalog/vendor-schema.ts'
import type { OtlpSettings } from '../../pipeline/catalog/otlp-settings.ts'
import { checkParameters, namesIn, parametersOf } from './vendor-parameters.ts'

export type DestinationConfig = {
  readonly endpoint?: string
  readonly metrics_endpoint?: string
  readonly vendor_parameters: Readonly<Record<string, string>>
  readonly api_key?: string
  readonly api_key_file?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly headers_files: Readonly<Record<string, string>>
}

const METRICS_PATH = '/v1/metrics'

/** A whole URL as it is; a base with the path of metrics behind its own. */
export function metricsUrl(config: DestinationConfig, vendor: Vendor | undefined): string {
  if (config.metrics_endpoint !== undefined) return config.metrics_endpoint
  if (config.endpoint !== undefined) {
    const url = new URL(config.endpoint)
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${METRICS_PATH}`
    return url.href
  }
  return fill(vendor?.url ?? '', parametersOf(config, vendor))
}

/** What the vendor wants to be sent along, besides what the config says. A file with a key is read by whoever reads the others. */
export function vendorHeaders(config: DestinationConfig, vendor: Vendor | undefined) {
  if (vendor === undefined) return { headers: {}, apiKey: undefined }
  const parameters = parametersOf(config, vendor)
  const headers = Object.fromEntries(
    Object.entries(vendor.headers)
      .filter(([, template]) => missingIn(template, parameters).length === 0)
      .map(([name, template]) => [name, fill(template, parameters)]),
  )
  return { headers, apiKey: vendor.api_key }
}

/** What is missing or cannot be together; the schema has said the rest. */
export function checkDestination(
  config: DestinationConfig & OtlpSettings,
  vendor: Vendor | undefined,
  vendorName = '',
): Problem[] {
  const problems: Problem[] = []
  const report = (path: readonly string[], message: string) => void problems.push({ path, message })
  if (config.endpoint !== undefined && config.metrics_endpoint !== undefined) {
    report(['metrics_endpoint'], 'there is an endpoint already: one of the two is enough')
  }
  if (config.api_key !== undefined && config.api_key_file !== undefined) {
    report(['api_key_file'], 'there is an api_key already: one of the two is enough')
  }
  const hasUrl = config.endpoint !== undefined || config.metrics_endpoint !== undefined
  const key = config.api_key !== undefined ? 'api_key' : config.api_key_file !== undefined ? 'api_key_file' : undefined
  if (vendor === undefined) {
    if (!hasUrl && vendorName === '') report([], 'needs an endpoint, a metrics_endpoint or a vendor')
    if (vendorName === '' && key !== undefined) report([key], 'only a vendor says how an api_key is sent: use headers')
    if (vendorName === '' && Object.keys(config.vendor_parameters).length > 0) {
      report(['vendor_parameters'], 'there is no vendor')
    }
    return problems
  }
  if (vendor.instead !== undefined) report(['vendor'], `${vendor.about} takes no OTLP: ${vendor.instead}`)
  else problems.push(...checkVendor(config, vendor, vendorName, hasUrl, key))
  return problems
}

function checkVendor(
  config: DestinationConfig & OtlpSettings,
  vendor: Vendor,
  name: string,
  hasUrl: boolean,
  key: 'api_key' | 'api_key_file' | undefined,
): Problem[] {
  const problems: Problem[] = []
  const report = (path: readonly string[], message: string) => void problems.push({ path, message })
  if (!hasUrl && vendor.url === undefined)
    report(['vendor'], `vendor \`${name}\` needs an endpoint: it has no common one`)
  problems.push(...checkParameters(config, vendor, name, { hasUrl, hasKey: key !== undefined }))
  if (key !== undefined && vendor.api_key === undefined) {
    report([key], `vendor \`${name}\` knows no api_key: use authorization, oauth2 or headers`)
  }
  const others = otherCredentials(config, vendor)
  if (vendor.api_key?.optional === false && key === undefined && others.length === 0) {
    report(['api_key'], `vendor \`${name}\` needs an api_key, which is sent as ${vendor.api_key.header}`)
  }
  for (const { path, isSameHeader } of others) {
    if (key !== undefined && isSameHeader) report(path, `the api_key is sent as ${vendor.api_key?.header} already`)
  }
  for (const setting of ['encoding', 'compression', 'temporality'] as const) {
    const wanted = config[setting]
    const accepted: readonly string[] | undefined = vendor.accepts[setting]
    if (wanted === undefined || accepted === undefined || accepted.includes(wanted)) continue
    report([setting], `vendor \`${name}\` takes only ${accepted.join(' or ')}, not ${wanted}`)
  }
  return problems
}

/** What the config has to say who it is, besides an api_key, and whether both would be the same header. */
function otherCredentials(config: DestinationConfig, { api_key: way }: Vendor) {
  const header = way?.header.toLowerCase()
  const ways = ['authorization', 'basic_auth', 'oauth2'].filter(one => Object.hasOwn(config, one))
  const found = ways.map(one => ({ path: [one], isSameHeader: header === 'authorization' }))
  for (const [key, names] of Object.entries({ headers: config.headers ?? {}, headers_files: config.headers_files })) {
    for (const name of Object.keys(names)) {
      if (name.toLowerCase() === header) found.push({ path: [key, name], isSameHeader: true })
    }
  }
  return found
}

function missingIn(template: string, parameters: ReadonlyMap<string, string>): string[] {
  return namesIn(template).filter(name => !parameters.has(name))
}

/** A base that ends with a slash does not get a second one. */
function fill(template: string, parameters: ReadonlyMap<string, string>): string {
  return template.replace(/\{(\w+)\}(\/?)/g, (found, name: string, slash: string) => {
    const value = parameters.get(name)
    if (value === undefined) return found
    return slash === '' ? value : `${value.replace(/\/+$/, '')}/`
  })
}
