/** A TCP server that answers with whatever bytes a test wants. */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

export type RawServer = {
  readonly url: string
  readonly address: string
  /** How many connections there have been. */
  readonly connections: number
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>
  /** The text of all requests. */
  readonly requests: readonly string[]
  /** Resolves when no more connections than that are open. */
  openAtMost(count: number): Promise<void>
  close(): Promise<void>
}

/** `respond` gets every request (they have no body) and its number on the connection, from 1. */
export async function startRawServer(
  respond: (socket: Socket, numberOnConnection: number) => void,
  host = '127.0.0.1',
): Promise<RawServer> {
  const open = new Set<Socket>()
  const requests: string[] = []
  let connections = 0
  const server = createServer({ allowHalfOpen: true }, socket => {
    connections++
    open.add(socket)
    let count = 0
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', data => {
      text += String(data)
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        requests.push(text.slice(0, end))
        text = text.slice(end + 4)
        respond(socket, ++count)
      }
    })
    socket.on('end', () => socket.end())
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      server.emit('one closed')
    })
  })
  server.listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  return {
    url: `http://${address}/metrics`,
    address,
    get connections() {
      return connections
    },
    open,
    requests,
    async openAtMost(count) {
      while (open.size > count) await once(server, 'one closed')
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
