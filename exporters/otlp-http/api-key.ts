/** A vendor's key, sent as the vendor wants it, by the ways that headers, and files that are replaced, already have. */
import type { Vendor } from '../../pipeline/catalog/vendor-schema.ts'
import type { PushConfig } from '../delivery/push-config.ts'
import type { DestinationConfig } from './destination.ts'
import { parametersOf } from './vendor-parameters.ts'

export function withApiKey(config: PushConfig & DestinationConfig, vendor: Vendor | undefined): PushConfig {
  const { api_key: key, api_key_file: file } = config
  const way = vendor?.api_key
  if (way === undefined || (key === undefined && file === undefined)) return config
  if (way.username !== undefined) {
    const username = parametersOf(config, vendor).get(way.username) ?? ''
    const password = file === undefined ? { password: key! } : { password_file: file }
    return { ...config, basic_auth: { username, ...password } }
  }
  const prefix = way.prefix.trim()
  if (way.header.toLowerCase() === 'authorization') {
    const credentials = file === undefined ? { credentials: key! } : { credentials_file: file }
    return { ...config, authorization: { type: prefix, ...credentials } }
  }
  return file === undefined
    ? { ...config, headers: { ...config.headers, [way.header]: `${way.prefix}${key!}` } }
    : { ...config, headers_files: { ...config.headers_files, [way.header]: file } }
}
