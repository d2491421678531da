import assert from 'node:assert/strict'
import type { Listener } from '../../../pipeline/component.ts'
import { createSystemClock } from '../../../pipeline/clock/system-clock.ts'
import { listen } from '../../../pipeline/http/listen.ts'
import { createRouter, html, json, text, type Route } from '../../../pipeline/server/router.ts'
import { ask } from '../../support/ask.ts'
import { testHost } from '../../support/test-host.ts'

const routes: readonly Route[] = [
  { method: 'GET', path: '/', about: 'text', handle: () => text(200, 'hello ö') },
  {
    method: 'GET',
    path: '/json',
    about: 'an object',
    handle: (_request, _response, url) => json(200, { asked: url.searchParams.get('q') }),
  },
  { method: 'GET', path: '/both', about: 'read', handle: async () => html(200, '<p>') },
  { method: 'POST', path: '/both', about: 'write', handle: request => text(201, request.method!) },
  { method: 'POST', path: '/write', about: 'write only', handle: () => text(200, 'written') },
  {
    method: 'GET',
    path: '/own',
    about: 'writes the response itself',
    handle(_request, response) {
      response.end('mine')
      return undefined
    },
  },
  {
    method: 'GET',
    path: '/fails',
    about: 'throws',
    handle() {
      throw new Error('a secret of the inside')
    },
  },
  { method: 'GET', path: '/rejects', about: 'rejects', handle: () => Promise.reject(new Error('later')) },
  {
    method: 'GET',
    path: '/half',
    about: 'fails after it began',
    async handle(_request, response) {
      response.writeHead(200, { 'content-length': 100 })
      await new Promise<void>(resolve => response.write('half', () => resolve()))
      throw new Error('in between')
    },
  },
]

describe('router', () => {
  const clock = createSystemClock()
  let host = testHost()
  let listener: Listener

  beforeEach(async () => {
    host = testHost()
    listener = await listen(clock, '127.0.0.1:0', createRouter(routes, host))
  })
  afterEach(() => listener.close(clock.monotonic() + 1000))

  const answers: [line: string, status: number, contentType: string, body: string | RegExp][] = [
    ['GET /', 200, 'text/plain; charset=utf-8', 'hello ö\n'],
    ['GET /?x=1', 200, 'text/plain; charset=utf-8', 'hello ö\n'],
    ['HEAD /', 200, 'text/plain; charset=utf-8', ''],
    ['GET /json?q=%C3%A4', 200, 'application/json', '{\n  "asked": "ä"\n}\n'],
    ['GET /both', 200, 'text/html; charset=utf-8', '<p>'],
    ['POST /both', 201, 'text/plain; charset=utf-8', 'POST\n'],
    ['GET http://elsewhere.example/json', 200, 'application/json', /null/],
    ['GET /nothing', 404, 'text/plain; charset=utf-8', 'there is nothing here\n'],
    ['HEAD /nothing', 404, 'text/plain; charset=utf-8', ''],
    ['GET /json/', 404, 'text/plain; charset=utf-8', /nothing/],
    ['GET //json', 404, 'text/plain; charset=utf-8', /nothing/],
    ['GET /__proto__', 404, 'text/plain; charset=utf-8', /nothing/],
    ['OPTIONS *', 400, 'text/plain; charset=utf-8', /no usable address/],
    ['HEAD /write', 405, 'text/plain; charset=utf-8', ''],
    ['GET /write', 405, 'text/plain; charset=utf-8', 'use POST\n'],
    ['DELETE /both', 405, 'text/plain; charset=utf-8', 'use GET, HEAD, POST\n'],
    ['GET /fails', 500, 'text/plain; charset=utf-8', 'the request failed inside gpucol; its log says why\n'],
    ['HEAD /rejects', 500, 'text/plain; charset=utf-8', ''],
  ]
  for (const [line, status, contentType, body] of answers) {
    it(`answers ${line} with ${status}`, async () => {
      const answer = await ask(listener.address, line)
      assert.equal(answer.status, status)
      assert.equal(answer.headers['content-type'], contentType)
      if (typeof body === 'string') assert.equal(answer.body, body)
      else assert.match(answer.body, body)
    })
  }

  it('says what is allowed where a method is not', async () => {
    assert.equal((await ask(listener.address, 'PUT /both')).headers.allow, 'GET, HEAD, POST')
    assert.equal((await ask(listener.address, 'GET /write')).headers.allow, 'POST')
  })

  it('answers HEAD with the headers of GET', async () => {
    const [get, head] = await Promise.all([ask(listener.address, 'GET /json'), ask(listener.address, 'HEAD /json')])
    assert.equal(head.headers['content-length'], String(Buffer.byteLength(get.body)))
  })

  it('leaves the response to a handler that writes it itself', async () => {
    assert.equal((await ask(listener.address, 'GET /own')).body, 'mine')
  })

  it('counts and logs a handler that fails, and says nothing of the inside', async () => {
    await ask(listener.address, 'GET /fails')
    await ask(listener.address, 'GET /rejects')
    assert.equal(host.counted.get('gpucol_http_server_failed_requests'), 2)
    assert.deepEqual(host.logged, [
      'error: a request could not be answered request=GET /fails error=a secret of the inside',
      'error: a request could not be answered request=GET /rejects error=later',
    ])
  })

  it('breaks off an answer that fails half-way, so that it does not look whole', async () => {
    await assert.rejects(ask(listener.address, 'GET /half'))
    assert.equal(host.counted.get('gpucol_http_server_failed_requests'), 1)
  })

  const origins: [origin: string | undefined, host: string | undefined, status: number][] = [
    [undefined, undefined, 200],
    ['http://gpucol.example', 'gpucol.example', 200],
    ['http://gpucol.example:8080', 'gpucol.example:8080', 200],
    ['http://gpucol.example', 'gpucol.example:80', 200],
    ['https://gpucol.example', 'gpucol.example:443', 200],
    ['http://GPUCOL.example', 'gpucol.example', 200],
    ['http://evil.example', 'gpucol.example', 403],
    ['http://gpucol.example:81', 'gpucol.example', 403],
    ['null', 'gpucol.example', 403],
    ['file://', 'gpucol.example', 403],
    ['', 'gpucol.example', 403],
  ]
  for (const [origin, hostName, status] of origins) {
    it(`answers a POST from the page "${origin}" to ${hostName ?? 'itself'} with ${status}`, async () => {
      const headers = { ...(origin !== undefined && { origin }), ...(hostName !== undefined && { host: hostName }) }
      assert.equal((await ask(listener.address, 'POST /write', headers)).status, status)
    })
  }

  it('lets pages elsewhere read nothing special: GET does not ask where it comes from', async () => {
    const answer = await ask(listener.address, 'GET /', { origin: 'http://evil.example' })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
  })
})
