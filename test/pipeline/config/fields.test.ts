import assert from 'node:assert/strict'
import * as fields from '../../../pipeline/config/fields.ts'
import { validatorFor } from '../../../pipeline/config/validator.ts'

describe('fields', () => {
  const { duration, size, endpoint, url, secret, headers, labels, tls, serverSecurity, basicAuth, authorization } =
    fields
  const properties = {
    duration: duration('x', '1s'),
    size: size('x'),
    endpoint: endpoint('x'),
    url: url('x'),
    secret: secret('x'),
    headers,
    labels,
    tls,
    server: { type: 'object', properties: serverSecurity, description: 'x' } as const,
    basicAuth,
    authorization,
  }
  const validate = validatorFor({ type: 'object', properties })

  it('fit the strict validator, and bring their defaults', () => {
    const value = { tls: {}, authorization: {} }
    assert.deepEqual(validate(value), [])
    assert.deepEqual(value, {
      duration: '1s',
      tls: { insecure_skip_verify: false },
      authorization: { type: 'Bearer' },
    })
  })

  const bad: object[] = [
    { duration: 'x' },
    { size: 'x' },
    { endpoint: 'x' },
    { url: 'ftp://x' },
    { url: 'http://' },
    { url: 'http://a b' },
    { headers: { a: 1 } },
    { labels: { a: [] } },
    { tls: { cert_file: 'x' } },
    { tls: { other: 'x' } },
    { server: { tls: { cert_file: 'x' } } },
    { server: { basic_auth: { username: 'x' } } },
    { server: { basic_auth: { username: 'x', password: 'x', password_file: 'x' } } },
    { server: { authorization: {} } },
    { server: { authorization: { type: 'two words', credentials: 'x' } } },
    { basicAuth: { password: 'x' } },
  ]
  for (const value of bad)
    it(`refuse ${JSON.stringify(value)}`, () => {
      assert.notEqual(validate(value).length, 0)
    })

  it('are described', () => {
    for (const [name, { description }] of Object.entries(properties)) assert.ok(description.length > 0, name)
  })
})
