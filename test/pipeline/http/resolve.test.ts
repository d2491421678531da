import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { createResolver } from '../../../pipeline/http/resolve.ts'

const TYPES: Record<number, string> = { 1: 'A', 28: 'AAAA', 33: 'SRV' }
const NAME_ERROR = 3
const SERVER_FAILURE = 2

describe('DNS', () => {
  let socket: Socket
  let server: string
  let asked: string[]
  /** By type and name: the bytes of each record, or a code. A name that is not here does not exist. */
  let zone: Record<string, readonly Buffer[] | number>

  beforeEach(async () => {
    asked = []
    socket = createSocket('udp4')
    socket.on('message', (query, { address, port }) => socket.send(answer(query), port, address))
    await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
    server = `127.0.0.1:${(socket.address() as AddressInfo).port}`
  })
  afterEach(() => socket.close())

  function answer(query: Buffer): Buffer {
    const labels: string[] = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const question = query.subarray(12, at + 5)
    const key = `${TYPES[type]} ${labels.join('.')}`
    asked.push(key)
    const found = zone[key] ?? NAME_ERROR
    const records = typeof found === 'number' ? [] : found
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2)
    for (const [offset, count] of [1, records.length, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * offset)
    const answers = records.map(data => {
      const fixed = Buffer.alloc(12)
      fixed.writeUInt16BE(0xc00c, 0)
      fixed.writeUInt16BE(type, 2)
      fixed.writeUInt16BE(1, 4)
      fixed.writeUInt16BE(data.length, 10)
      return Buffer.concat([fixed, data])
    })
    return Buffer.concat([head, question, ...answers])
  }

  const resolve = (settings = ''): ReturnType<typeof createResolver> =>
    createResolver({ readSettings: () => settings, servers: [server] })
  const srv = (port: number, ...labels: string[]): Buffer =>
    Buffer.concat([
      Buffer.from([0, 0, 0, 0, port >> 8, port & 255]),
      ...labels.map(label => Buffer.from(String.fromCharCode(label.length) + label)),
      Buffer.from([0]),
    ])

  it('has addresses and servers', async () => {
    zone = {
      'A exporter.example': [Buffer.from([10, 0, 0, 1]), Buffer.from([10, 0, 0, 2])],
      'AAAA exporter.example': [Buffer.from('20010db8000000000000000000000001', 'hex')],
      'SRV _metrics._tcp.example': [srv(9400, 'node-a', 'example')],
    }
    assert.deepEqual(await resolve()('exporter.example', 'A'), [{ host: '10.0.0.1' }, { host: '10.0.0.2' }])
    assert.deepEqual(await resolve()('exporter.example', 'AAAA'), [{ host: '2001:db8::1' }])
    assert.deepEqual(await resolve()('_metrics._tcp.example', 'SRV'), [{ host: 'node-a.example', port: 9400 }])
  })

  it('completes names by the search list', async () => {
    const settings =
      '# of a pod\nnameserver 10.0.0.10\nsearch gpu.svc.cluster.local svc.cluster.local.\noptions ndots:2\n'
    zone = { 'A exporter.monitoring.svc.cluster.local': [Buffer.from([10, 0, 0, 3])] }
    assert.deepEqual(await resolve(settings)('exporter.monitoring', 'A'), [{ host: '10.0.0.3' }])
    assert.deepEqual(asked.splice(0), [
      'A exporter.monitoring.gpu.svc.cluster.local',
      'A exporter.monitoring.svc.cluster.local',
    ])
    assert.deepEqual(await resolve(settings)('a.b.example', 'A'), [])
    assert.equal(asked.splice(0)[0], 'A a.b.example')
    assert.deepEqual(await resolve(settings)('whole.', 'A'), [])
    assert.deepEqual(asked, ['A whole'])
  })

  it('has no records of a name that does not exist, and fails if nobody can tell', async () => {
    zone = { 'A broken.example': SERVER_FAILURE }
    assert.deepEqual(await resolve()('nowhere.example', 'A'), [])
    await assert.rejects(
      resolve()('broken.example', 'A'),
      /^Error: no answer from DNS for A broken\.example: ESERVFAIL/,
    )
  })

  it('goes on with the next name if one fails', async () => {
    zone = { 'A x.first.example': SERVER_FAILURE, 'A x.second.example': [Buffer.from([10, 0, 0, 4])] }
    const settings = 'search first.example second.example\n'
    assert.deepEqual(await resolve(settings)('x', 'A'), [{ host: '10.0.0.4' }])
  })
})
