import assert from 'node:assert/strict'
import { environmentProxy } from '../../../pipeline/http/environment-proxy.ts'

describe('the proxy that the environment names', () => {
  function check(url: string, environment: Record<string, string>, expected: string | undefined): void {
    it(`is ${expected} for ${url} with ${JSON.stringify(environment)}`, () => {
      assert.equal(environmentProxy(url, environment), expected)
    })
  }
  const both = { HTTPS_PROXY: 'http://s:1', HTTP_PROXY: 'http://p:2' }
  const without = (NO_PROXY: string): Record<string, string> => ({ ...both, NO_PROXY })

  check('https://otlp.example.com/v1', {}, undefined)
  check('https://otlp.example.com/v1', both, 'http://s:1')
  check('http://otlp.example.com/v1', both, 'http://p:2')
  check('https://otlp.example.com/v1', { https_proxy: 'http://small:1' }, 'http://small:1')
  check('https://otlp.example.com/v1', { HTTPS_PROXY: '', https_proxy: 'proxy.corp:3128' }, 'http://proxy.corp:3128')
  check('https://otlp.example.com/v1', { HTTP_PROXY: 'http://p:2' }, undefined)

  check('https://localhost:4318', both, undefined)
  check('https://127.0.0.2:4318', both, undefined)
  check('https://[::1]:4318', both, undefined)

  check('https://otlp.example.com', without('*'), undefined)
  check('https://otlp.example.com', without('other.com, example.com'), undefined)
  check('https://example.com', without('EXAMPLE.com'), undefined)
  check('https://example.com', without('.example.com'), 'http://s:1')
  check('https://otlp.example.com', without('.example.com'), undefined)
  check('https://otlp.example.com', without('*.example.com'), undefined)
  check('https://badexample.com', without('example.com'), 'http://s:1')
  check('https://otlp.example.com', without('example.com:443'), undefined)
  check('https://otlp.example.com:4318', without('example.com:443'), 'http://s:1')
  check('https://collector.monitoring.svc:4318', without('.svc,10.0.0.0/8'), undefined)
  check('https://10.1.2.3', without('.svc,10.0.0.0/8'), undefined)
  check('https://11.1.2.3', without('.svc,10.0.0.0/8'), 'http://s:1')
  check('https://10.1.2.3', without('10.1.2.3'), undefined)
  check('https://[fd00::7]:4318', without('fd00::/8'), undefined)
  check('https://10.1.2.3', without('10.0.0.0/99, nonsense/8,,'), 'http://s:1')
})
