/** Addresses to listen on or to talk to: `host:port`. */

export type Endpoint = { readonly host: string; readonly port: number }

/** `:8080` means all addresses of the machine, as in Go; IPv6 addresses stand in brackets. Throws an Error that quotes the text. */
export function parseEndpoint(text: string): Endpoint {
  const [, bracketed, name, portText] = /^(?:\[([0-9A-Fa-f:.%\w]+)\]|([A-Za-z0-9._-]*)):(\d{1,5})$/.exec(text) ?? []
  const port = Number(portText)
  if (portText === undefined || port > 65535) throw new Error(`"${text}" is not an address such as 127.0.0.1:8080`)
  return { host: bracketed ?? (name === '' || name === undefined ? '0.0.0.0' : name), port }
}

/** Whether one process cannot listen on both. Port 0 is a free port each time, so it never clashes. */
export function clashes(a: Endpoint, b: Endpoint): boolean {
  if (a.port !== b.port || a.port === 0) return false
  return isEveryAddress(a.host) || isEveryAddress(b.host) || canonicalHost(a.host) === canonicalHost(b.host)
}

function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]+$/.test(host)
}

function canonicalHost(host: string): string {
  const name = host.toLowerCase()
  return name === 'localhost' || name === '::1' ? '127.0.0.1' : name
}
