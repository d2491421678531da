/** Targets from the DNS: the addresses of a name, or the servers of a service. */
import type { ConfigOf, DnsRecord, DnsType, Host, Problem } from '../../../pipeline/component.ts'
import { duration, parseDuration } from '../../../pipeline/config/fields.ts'
import { keepKnown, type DiscoveredTarget, type Discovery } from './discovery.ts'

export const dns = {
  type: 'object',
  properties: {
    names: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description: 'Names to look up. A name that does not end in a dot is completed as the machine does it.',
    },
    type: { type: 'string', enum: ['A', 'AAAA', 'SRV'], default: 'SRV', description: 'Which records to ask for.' },
    port: {
      type: 'integer',
      minimum: 1,
      maximum: 65_535,
      description: 'Port of the targets. SRV records have ports of their own.',
    },
    refresh_interval: duration('Time from one look-up to the next.', '30s'),
  },
  required: ['names'],
  additionalProperties: false,
  description: 'Targets from the DNS.',
} as const

export type DnsConfig = ConfigOf<typeof dns>

/** `usualPort` is what the receiver's targets listen on, if there is such a port. */
export function checkDns({ type, port }: DnsConfig, usualPort?: number): Problem[] {
  if (type === 'SRV' || port !== undefined || usualPort !== undefined) return []
  return [{ path: ['type'], message: `records of type ${type} have no port: \`port\` is needed beside it` }]
}

export function createDnsDiscovery(
  { names, type, port, refresh_interval }: DnsConfig,
  { clock, log, network }: Pick<Host, 'clock' | 'log' | 'network'>,
): Discovery {
  const intervalMs = Math.max(1, parseDuration(refresh_interval))
  const known = new Map<string, readonly DiscoveredTarget[]>()
  let cancel: (() => void) | undefined
  let stopped = false

  async function lookUp(name: string): Promise<void> {
    try {
      const records = await network.resolve(name, type)
      if (stopped) return
      const targets = records.map(record => ({ labels: labelsOf(name, type, record, port) }))
      known.set(name, keepKnown(known.get(name) ?? [], targets))
      if (records.length > 0) log.state(name, 'ok')
      else log.state(name, 'failing', `the DNS has no ${type} records of this name, so it has no targets`)
    } catch (error) {
      if (!stopped) log.state(name, 'failing', `the targets stay as they were: ${(error as Error).message}`)
    }
  }

  return {
    start(update) {
      const refresh = (): void => {
        cancel = clock.after(intervalMs, refresh)
        const before = [...known.values()]
        void Promise.all(names.map(lookUp)).then(() => {
          const now = [...known.values()]
          if (stopped || (now.length === before.length && now.every((targets, i) => targets === before[i]))) return
          update(now.flat())
        })
      }
      refresh()
    },
    stop() {
      stopped = true
      cancel?.()
      for (const name of names) log.state(name, 'gone')
    },
  }
}

function labelsOf(name: string, type: DnsType, record: DnsRecord, port: number | undefined): Map<string, string> {
  const host = record.host.includes(':') ? `[${record.host}]` : record.host
  const itsPort = record.port ?? port
  const labels = new Map([
    ['__address__', itsPort === undefined ? host : `${host}:${itsPort}`],
    ['__meta_dns_name', name],
  ])
  if (type !== 'SRV') return labels
  // Prometheus leaves the dot at the end of whole names in this label.
  labels.set('__meta_dns_srv_record_target', `${record.host}.`)
  return labels.set('__meta_dns_srv_record_port', String(record.port))
}
