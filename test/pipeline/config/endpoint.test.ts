import assert from 'node:assert/strict'
import { clashes, parseEndpoint, type Endpoint } from '../../../pipeline/config/endpoint.ts'

const good: [string, Endpoint][] = [
  ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  [':9464', { host: '0.0.0.0', port: 9464 }],
  ['[::1]:65535', { host: '::1', port: 65535 }],
  ['my-host.example.com:80', { host: 'my-host.example.com', port: 80 }],
]

const bad = [
  '',
  '8080',
  'localhost',
  'localhost:',
  'localhost:65536',
  'http://localhost:80',
  '::1:80',
  'a b:80',
  'a:80/x',
]

describe('parseEndpoint', () => {
  for (const [text, endpoint] of good)
    it(`understands ${text}`, () => {
      assert.deepEqual(parseEndpoint(text), endpoint)
    })
  for (const text of bad)
    it(`refuses "${text}" and quotes it`, () => {
      assert.throws(
        () => parseEndpoint(text),
        (error: Error) => error.message.includes(`"${text}"`),
      )
    })
})

const pairs: [string, string, boolean][] = [
  ['127.0.0.1:80', '127.0.0.1:80', true],
  ['127.0.0.1:80', '127.0.0.1:81', false],
  ['127.0.0.1:80', '10.0.0.1:80', false],
  ['127.0.0.1:80', '0.0.0.0:80', true],
  ['[::]:80', '10.0.0.1:80', true],
  [':80', 'localhost:80', true],
  ['localhost:80', '127.0.0.1:80', true],
  ['127.0.0.1:0', '127.0.0.1:0', false],
]

describe('clashes', () => {
  for (const [a, b, expected] of pairs)
    it(`${expected ? 'finds that' : 'does not think that'} ${a} and ${b} clash`, () => {
      assert.equal(clashes(parseEndpoint(a), parseEndpoint(b)), expected)
      assert.equal(clashes(parseEndpoint(b), parseEndpoint(a)), expected)
    })
})
