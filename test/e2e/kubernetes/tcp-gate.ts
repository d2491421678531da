/** A way to a server that can be closed, as by a firewall. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export type TcpGate = {
  readonly port: number
  /** `break` ends connections, and refuses new ones; `mute` lets them stand and passes nothing on, for ever. */
  close(how: 'break' | 'mute'): void
  open(): void
  stop(): Promise<void>
}

export async function openTcpGate(toPort: number): Promise<TcpGate> {
  let closed: 'break' | 'mute' | undefined
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer(near => {
    if (closed === 'break') return void near.destroy()
    const far = connect(toPort, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    if (closed === undefined) near.pipe(far).pipe(near)
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        for (const one of pair) one.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  function each(run: (near: Socket, far: Socket) => void): void {
    for (const [near, far] of pairs) run(near, far)
  }
  return {
    port: (server.address() as AddressInfo).port,
    close(how) {
      closed = how
      each((near, far) => {
        if (how === 'break') return void near.destroy()
        near.unpipe(far)
        far.unpipe(near)
      })
    },
    open() {
      closed = undefined
    },
    async stop() {
      server.close()
      each(near => near.destroy())
      await once(server, 'close')
    },
  }
}
