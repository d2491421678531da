/**
 * DNS look-ups. Names are completed by the search list of the machine, as Prometheus does it: in a pod, `exporter.monitoring` is
 * the service of that name.
 */
import type { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import type { DnsRecord, DnsType, Network } from '../component.ts'

const TIMEOUT_MS = 2000
const TRIES = 2
/** Answers that there is nothing. All others are no answer. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA'])

export type ResolverOptions = {
  /** The text of `/etc/resolv.conf`. */
  readonly readSettings?: () => string
  /** `host:port`; those of the machine unless told otherwise. */
  readonly servers?: readonly string[]
}

export function createResolver({ readSettings = readResolvConf, servers }: ResolverOptions = {}): Network['resolve'] {
  return async (name, type) => {
    // Made anew, because the servers of a machine can change.
    const dns = process.getBuiltinModule('node:dns/promises')
    const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    let failure: Error | undefined
    for (const candidate of candidatesFor(name, readSettings())) {
      try {
        const records = await query(resolver, candidate, type)
        if (records.length > 0) return records
      } catch (error) {
        // Another name may have what this one would have had.
        failure ??= error as Error
      }
    }
    if (failure !== undefined) throw failure
    return []
  }
}

async function query(resolver: Resolver, name: string, type: DnsType): Promise<readonly DnsRecord[]> {
  try {
    if (type === 'SRV') return (await resolver.resolveSrv(name)).map(({ name: host, port }) => ({ host, port }))
    return (await resolver.resolve(name, type)).map(host => ({ host }))
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (NOTHING.has(code)) return []
    throw new Error(`no answer from DNS for ${type} ${name}: ${code || (error as Error).message}`, { cause: error })
  }
}

/** The names to try, in order: a dot at the end marks a whole one, and one with few dots is tried last as it is. */
function candidatesFor(name: string, settings: string): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)]
  const { search, ndots } = readSearch(settings)
  const completed = search.map(domain => `${name}.${domain}`)
  return name.split('.').length - 1 >= ndots ? [name, ...completed] : [...completed, name]
}

/** `man resolv.conf`: of several `search` and `domain` lines the last counts. */
function readSearch(settings: string): { search: readonly string[]; ndots: number } {
  let search: readonly string[] = []
  let ndots = 1
  for (const line of settings.split('\n')) {
    const [key, ...values] = line.split(/[#;]/, 1)[0]!.trim().split(/\s+/)
    if (key === 'search' || key === 'domain') search = values.map(domain => domain.replace(/\.$/, '')).filter(Boolean)
    if (key !== 'options') continue
    const option = values.map(value => /^ndots:(\d+)$/.exec(value)?.[1]).findLast(found => found !== undefined)
    if (option !== undefined) ndots = Number(option)
  }
  return { search, ndots }
}

function readResolvConf(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8')
  } catch {
    return ''
  }
}
