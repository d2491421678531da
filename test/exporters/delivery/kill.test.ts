/** Real processes that are killed at any moment, and a real receiver that fails as it likes. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { numbersIn } from '../../support/pushing.ts'

/** More of them: `KILLS=100 npx mocha ...`. */
const KILLS = Number(process.env['KILLS'] ?? 10)

describe('a process that is killed while it delivers', () => {
  let directory: string
  let server: Server
  let url: string
  let child: ChildProcess | undefined
  const received = new Set<number>()
  let requests = 0
  let mood: 'well' | 'moody' | 'dead' = 'moody'

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gpucol-kill-'))
    server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        const turn = mood === 'well' ? 0 : mood === 'dead' ? 1 : ++requests % 5
        if (turn === 1) response.writeHead(503).end()
        else if (turn === 2) request.socket.destroy()
        else {
          for (const number of numbersIn(Buffer.concat(pieces).toString())) received.add(number)
          // Some answers are lost on their way.
          if (turn === 3) request.socket.destroy()
          else response.writeHead(200).end()
        }
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/push`
  })
  after(async () => {
    child?.kill('SIGKILL')
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true })
  })

  function start(...first: string[]): { child: ChildProcess; lines: ReturnType<typeof createInterface> } {
    const script = fileURLToPath(new URL('./pushing-child.ts', import.meta.url))
    const started = spawn(process.execPath, [script, directory, url, ...first], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    return { child: started, lines: createInterface({ input: started.stdout }) }
  }

  it('loses nothing that was on disk', async () => {
    const safe = new Set<number>()
    for (let kill = 0; kill < KILLS; kill++) {
      mood = (['moody', 'dead', 'well'] as const)[kill % 3]!
      const { child: victim, lines } = start(String(1 + kill * 1_000_000))
      const closed = once(victim, 'close')
      let left = 1 + ((kill * 37) % 60)
      lines.on('line', line => {
        for (const number of numbersIn(line)) safe.add(number)
        if (--left === 0) victim.kill('SIGKILL')
      })
      await closed
    }
    mood = 'well'
    const { child: last } = start()
    const [code] = (await once(last, 'exit')) as [number | null]
    assert.equal(code, 0)
    assert.ok(safe.size > KILLS)
    assert.deepEqual(
      [...safe].filter(number => !received.has(number)),
      [],
    )
    assert.deepEqual(
      (await readdir(directory)).filter(name => name.includes('damaged')),
      [],
    )
  }).timeout(120_000)
})
