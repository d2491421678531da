/** Objects as the API sends them. What is in them is only hoped for: who reads more than the metadata checks it. */

export type ApiObject = {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMetadata
  readonly [part: string]: unknown
}

export type ObjectMetadata = {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
}

export type OwnerReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
}

/** `key` is the name with the namespace; two objects that have one key after each other differ in their uid. */
export type Identity = { readonly key: string; readonly uid: string; readonly version: string }

/** Throws an Error that says what is missing. */
export function identify(object: unknown): Identity {
  const metadata = isRecord(object) ? object['metadata'] : undefined
  if (!isRecord(metadata)) throw new Error('it has no metadata')
  const { name, namespace = '', uid = '', resourceVersion: version = '' } = metadata
  if (typeof name !== 'string' || name === '') throw new Error('its metadata has no name')
  if (typeof namespace !== 'string') throw new Error('its namespace is no text')
  if (typeof uid !== 'string') throw new Error('its uid is no text')
  if (typeof version !== 'string') throw new Error('its resourceVersion is no text')
  return { key: namespace === '' ? name : `${namespace}/${name}`, uid, version }
}

/**
 * Whether a version was before another one. Versions are numbers that grow, for all kinds that are kept in etcd; of versions that are
 * something else none is before any other.
 */
export function isOlder(version: string, than: string): boolean {
  if (!NUMBER.test(version) || !NUMBER.test(than)) return false
  return version.length === than.length ? version < than : version.length < than.length
}

/** Without leading zeros, so that the longer one is the larger one. */
const NUMBER = /^[1-9]\d*$/

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
