/** Targets as people write them: a URL, `host:port` or `host`. */
import type { DiscoveredTarget } from './discovery/discovery.ts'

/** What a bare target lacks. */
export type UrlDefaults = {
  readonly scheme: 'http' | 'https'
  readonly port: number
  readonly path: string
}

/** The URL that a target stands for, or undefined if it stands for none. */
export function targetUrl(text: string, { scheme, port, path }: UrlDefaults): URL | undefined {
  const bare = isBare(text)
  const url = URL.parse(bare ? `${scheme}://${text}` : text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined
  if (!bare) return url
  // URL leaves out a port that is the scheme's default, so the text is asked whether it has one.
  if (!/:\d+(\/|$)/.test(text)) url.port = String(port)
  if (url.pathname === '/' && !text.includes('/')) url.pathname = path
  return url
}

function isBare(text: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}

/** `host:port`, the port spelt out: the `instance` of a target. */
export function instanceOf(url: URL): string {
  return url.port === '' ? `${url.hostname}:${url.protocol === 'https:' ? 443 : 80}` : url.host
}

/**
 * A target whose `__address__` is as people write it becomes one with the labels that Prometheus has for the parts of a URL. What
 * is no address stays as it is.
 */
export function withUsualParts(target: DiscoveredTarget, defaults: UrlDefaults): DiscoveredTarget {
  const address = target.labels.get('__address__') ?? ''
  const url = targetUrl(address, defaults)
  if (url === undefined) return target
  const labels = new Map(target.labels)
  labels.set('__address__', instanceOf(url))
  const said = (name: string, value: string): void => void (labels.has(name) || labels.set(name, value))
  if (!isBare(address)) said('__scheme__', url.protocol.slice(0, -1))
  if (address.replace(/^[^/]*:\/\//, '').includes('/')) said('__metrics_path__', url.pathname)
  for (const [name, value] of url.searchParams) said(`__param_${name}`, value)
  const isMore = url.username !== '' || url.password !== '' || url.search !== ''
  return { ...target, labels, ...(isMore && { url }) }
}
