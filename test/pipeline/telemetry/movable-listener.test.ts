import assert from 'node:assert/strict'
import type { Network } from '../../../pipeline/component.ts'
import { inUse } from '../../../pipeline/http/failure.ts'
import { createMovableListener } from '../../../pipeline/telemetry/movable-listener.ts'
import { testHost } from '../../support/test-host.ts'

/** A machine with these ports of 127.0.0.1 and 0.0.0.0 in use; 0.0.0.0 wants its port to be free everywhere. */
function machine(taken: Set<string>): { taken: Set<string>; network: Network } {
  const network: Network = {
    ...testHost().network,
    async listen(endpoint) {
      const [host, port] = endpoint.split(':') as [string, string]
      const blocked = [...taken].some(
        other =>
          other.endsWith(`:${port}`) && (host === '0.0.0.0' || other === endpoint || other.startsWith('0.0.0.0')),
      )
      if (blocked) throw inUse(endpoint)
      taken.add(endpoint)
      return {
        address: endpoint,
        close: async () => {
          taken.delete(endpoint)
        },
      }
    },
  }
  return { taken, network }
}

describe('movable listener', () => {
  const moves: { name: string; blocked?: string; to: string; fails?: boolean; listens: string[] }[] = [
    { name: 'moves to another port', to: '127.0.0.1:9', listens: ['127.0.0.1:9'] },
    { name: 'stays where it is', to: '127.0.0.1:8', listens: ['127.0.0.1:8'] },
    { name: 'ends', to: 'none', listens: [] },
    { name: 'widens to all addresses of its own port', to: '0.0.0.0:8', listens: ['0.0.0.0:8'] },
    {
      name: 'stays if the new address is taken',
      blocked: '127.0.0.1:9',
      to: '127.0.0.1:9',
      fails: true,
      listens: ['127.0.0.1:8'],
    },
    {
      name: 'comes back if it cannot widen',
      blocked: '127.0.0.2:8',
      to: '0.0.0.0:8',
      fails: true,
      listens: ['127.0.0.1:8'],
    },
  ]
  for (const { name, blocked, to, fails = false, listens } of moves) {
    it(name, async () => {
      const { taken, network } = machine(new Set(blocked === undefined ? [] : [blocked]))
      const listener = createMovableListener(network, testHost().clock, () => {})
      await listener.moveTo('127.0.0.1:8')
      if (fails) await assert.rejects(listener.moveTo(to), /in use/)
      else await listener.moveTo(to)
      if (blocked !== undefined) taken.delete(blocked)
      assert.deepEqual([...taken], listens)
      assert.equal(listener.address(), listens[0])
      await listener.close(0)
      await listener.close(0)
      assert.deepEqual([...taken], [])
      assert.equal(listener.address(), undefined)
    })
  }
})
