/** The proxy that the environment names for a URL, by the rules of Go's programs: the Collector has them, too. */
import { BlockList, isIP } from 'node:net'
import { parseDestination } from './url.ts'

type Environment = Readonly<Record<string, string | undefined>>

export function environmentProxy(url: string, environment: Environment = process.env): string | undefined {
  const { secure, host, port } = parseDestination(url)
  const proxy = valueOf(secure ? 'https_proxy' : 'http_proxy', environment)
  if (proxy === undefined || isLocal(host)) return undefined
  if (isExcepted(host, `${port}`, valueOf('no_proxy', environment) ?? '')) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function valueOf(name: string, environment: Environment): string | undefined {
  return environment[name.toUpperCase()] || environment[name] || undefined
}

function isLocal(host: string): boolean {
  return host === 'localhost' || LOOPBACK.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4')
}
const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/**
 *     exceptions = "*" | exception { "," exception }
 *     exception  = ( name | "." name | "*." name | address ) [ ":" port ] | address "/" bits
 *
 * A name stands for itself and all below it; with a dot before it only for those.
 */
function isExcepted(host: string, port: string, exceptions: string): boolean {
  return exceptions.split(',').some(text => {
    const exception = text.trim().toLowerCase()
    if (exception === '*') return true
    if (isIP(host) > 0) return exception === host || exception === `${host}:${port}` || isInSubnet(host, exception)
    const [, name = '', itsPort] = /^\*?([^:*]+)(?::(\d+))?$/.exec(exception) ?? []
    if (name === '' || (itsPort !== undefined && itsPort !== port)) return false
    return host.endsWith(name.startsWith('.') ? name : `.${name}`) || host === name
  })
}

function isInSubnet(address: string, subnet: string): boolean {
  const [, first = '', bits] = /^([^/]+)\/(\d+)$/.exec(subnet) ?? []
  const version = isIP(first)
  if (version === 0 || version !== isIP(address) || Number(bits) > (version === 4 ? 32 : 128)) return false
  const type = version === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(first, Number(bits), type)
  return list.check(address, type)
}
