/**
 * Devices that pods have by claims (dynamic resource allocation): a claim names the pods that it is reserved for and the devices that
 * it got, and the driver of those publishes, in slices, which GPU each of them is.
 */
import type { PodReader } from './find-pod.ts'
import { isRecord, shareText, textOf, type SentObject } from './keep-metadata.ts'
import type { Pod } from './objects.ts'

export type Claim = {
  readonly kind: 'ResourceClaim'
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The pods that it is reserved for. */
  readonly pods: readonly { readonly name: string; readonly uid: string }[]
  readonly devices: readonly DeviceName[]
}

/** What a device is called in its driver's pool. */
export type DeviceName = { readonly driver: string; readonly pool: string; readonly device: string }

/** What a driver publishes of a device. */
export type PublishedDevice = {
  readonly uuid: string | undefined
  /** Of an instance: the GPU that it is a part of, and its profile. */
  readonly parentUuid: string | undefined
  readonly profile: string | undefined
  /** '' where the device is not of one node. */
  readonly node: string
}

export type Slice = {
  readonly uid: string
  readonly devices: ReadonlyMap<string, PublishedDevice>
}

export type ClaimedDevice = DeviceName & Partial<PublishedDevice> & { readonly claim: string }

export function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

export function publishedKey({ driver, pool, device }: DeviceName): string {
  return `${driver}/${pool}/${device}`
}

/** The devices of a pod, with their UUIDs where their driver has published them. A claim may be reserved for others meanwhile. */
export function claimedDevices({ look, tables }: PodReader, pod: Pod): ClaimedDevice[] {
  return (pod.claims ?? []).flatMap(name => {
    const claim = look(tables.claims.entry(claimKey(pod.namespace, name)))
    if (claim === undefined || !claim.pods.some(({ uid }) => uid === pod.uid)) return []
    return claim.devices.map(device => ({
      claim: name,
      ...device,
      ...look(tables.publishedDevices.at(publishedKey(device))),
    }))
  })
}

/** The pods that a GPU is claimed for, with the name of the claim. */
export function podsClaiming(
  { look, tables }: PodReader,
  uuid: string,
): { readonly pod: Pod; readonly claim: string }[] {
  const devices = look(tables.publishedUuids.at(uuid)) ?? []
  return devices
    .flatMap(device => look(tables.claimsByDevice.entry(device)) ?? [])
    .flatMap(key => {
      const claim = look(tables.claims.entry(key))
      const pods = (claim?.pods ?? []).map(({ uid }) => look(tables.pods.entry(uid)))
      return pods.filter(pod => pod !== undefined).map(pod => ({ pod, claim: claim!.name }))
    })
}

/** The names of the claims that a pod uses; undefined where there are none. Those of a template are known when they are made. */
export function claimsOfPod(spec: Record<string, unknown>, status: Record<string, unknown>): string[] | undefined {
  const made = new Map(records(status['resourceClaimStatuses']).map(one => [one['name'], one['resourceClaimName']]))
  const names = records(spec['resourceClaims'])
    .map(({ name, resourceClaimName }) => textOf(resourceClaimName ?? made.get(name)))
    .filter(name => name !== '')
  return names.length === 0 ? undefined : names
}

export function keepClaim(object: SentObject): Claim {
  const { name, namespace = '', uid = '' } = object.metadata
  const status = isRecord(object['status']) ? object['status'] : {}
  const allocation = isRecord(status['allocation']) ? status['allocation'] : {}
  const devices = isRecord(allocation['devices']) ? allocation['devices'] : {}
  return {
    kind: 'ResourceClaim',
    namespace: shareText(namespace),
    name,
    uid,
    pods: records(status['reservedFor'])
      .filter(({ resource }) => resource === 'pods')
      .map(one => ({ name: textOf(one['name']), uid: textOf(one['uid']) })),
    devices: records(devices['results']).map(({ driver, pool, device }) => ({
      driver: shareText(textOf(driver)),
      pool: shareText(textOf(pool)),
      device: shareText(textOf(device)),
    })),
  }
}

export function isSameClaim(one: Claim, other: Claim): boolean {
  return (
    one.uid === other.uid &&
    one.pods.map(({ uid }) => uid).join() === other.pods.map(({ uid }) => uid).join() &&
    one.devices.map(publishedKey).join() === other.devices.map(publishedKey).join()
  )
}

export function keepSlice(object: SentObject): Slice {
  const spec = isRecord(object['spec']) ? object['spec'] : {}
  const driver = textOf(spec['driver'])
  const pool = isRecord(spec['pool']) ? textOf(spec['pool']['name']) : ''
  const node = shareText(textOf(spec['nodeName']))
  const devices = records(spec['devices']).map(device => {
    // Up to v1beta1 what is published stands one level deeper.
    const basic = isRecord(device['basic']) ? device['basic'] : device
    const attributes = isRecord(basic['attributes']) ? basic['attributes'] : {}
    const published: PublishedDevice = {
      uuid: attribute(attributes, 'uuid'),
      parentUuid: attribute(attributes, 'parentUUID'),
      profile: attribute(attributes, 'profile'),
      node,
    }
    return [publishedKey({ driver, pool, device: textOf(device['name']) }), published] as const
  })
  return { uid: object.metadata.uid ?? '', devices: new Map(devices) }
}

export function isSameSlice(one: Slice, other: Slice): boolean {
  if (one.uid !== other.uid || one.devices.size !== other.devices.size) return false
  for (const [key, device] of one.devices) {
    const { uuid, parentUuid, profile, node } = other.devices.get(key) ?? NO_DEVICE
    const isSame = device.uuid === uuid && device.parentUuid === parentUuid && device.profile === profile
    if (!isSame || device.node !== node) return false
  }
  return true
}

const NO_DEVICE = { uuid: undefined, parentUuid: undefined, profile: undefined, node: undefined }

/** Names of attributes may have the driver's domain before them. */
function attribute(attributes: Record<string, unknown>, name: string): string | undefined {
  const key = Object.keys(attributes).find(one => one === name || one.endsWith(`/${name}`))
  const value = key === undefined ? undefined : attributes[key]
  const text = isRecord(value) ? textOf(value['string']) : ''
  return text === '' ? undefined : shareText(text)
}

function records(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : []
}
