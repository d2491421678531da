import assert from 'node:assert/strict'
import { describeFailure, describeListenFailure, neverArrived, timedOut } from '../../../pipeline/http/failure.ts'

const AT = { host: 'gpu-a', address: 'gpu-a:9400' }

function failed(code: string, message = 'in the words of a developer'): Error {
  return Object.assign(new Error(message), { code })
}

describe('failures', () => {
  const requests: Record<string, string> = {
    ECONNREFUSED: 'connection refused by gpu-a:9400',
    ENOTFOUND: 'no such host: gpu-a',
    EAI_AGAIN: 'no answer from DNS for gpu-a',
    ECONNRESET: 'connection reset by gpu-a:9400',
    EHOSTUNREACH: 'no route to gpu-a:9400',
    EMFILE: 'no connection to gpu-a:9400: too many open files',
    ETIMEDOUT: 'no connection to gpu-a:9400: timed out',
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'gpu-a:9400 asks for a client certificate',
    'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE': 'gpu-a:9400 does not accept the client certificate, or asks for one',
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': 'gpu-a:9400 refuses the handshake: it may ask for a client certificate',
    ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'gpu-a:9400 does not trust the client certificate',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of gpu-a:9400 is not trusted: in the words of a developer',
    ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of gpu-a:9400 is not trusted: in the words of a developer',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate of gpu-a:9400 is not trusted: in the words of a developer',
    ERR_SSL_NO_PROTOCOLS_AVAILABLE: 'no TLS connection to gpu-a:9400: in the words of a developer',
    HPE_INVALID_CONSTANT: 'malformed response: in the words of a developer',
    ESOMETHING: 'request to gpu-a:9400 failed: in the words of a developer',
  }
  for (const [code, sentence] of Object.entries(requests)) {
    it(`of requests: ${code} is "${sentence}"`, () => {
      const error = failed(code)
      assert.equal(describeFailure(error, AT).message, sentence)
      assert.equal(describeFailure(error, AT).cause, error)
    })
  }

  it('of handshakes are those of requests that never arrived', () => {
    for (const code of ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'ECONNREFUSED']) {
      assert.equal(neverArrived(describeFailure(failed(code), AT)), true)
    }
    assert.equal(neverArrived(describeFailure(failed('ECONNRESET'), AT)), false)
  })

  it('of several addresses at once have a reason, too', () => {
    const error = Object.assign(new AggregateError([failed('ECONNREFUSED')], ''), { code: 'ECONNREFUSED' })
    assert.equal(describeFailure(error, AT).message, 'connection refused by gpu-a:9400')
  })

  const listeners: Record<string, string> = {
    EADDRINUSE: '127.0.0.1:9464 is in use by another process',
    EACCES: 'not allowed to listen on 127.0.0.1:9464',
    EADDRNOTAVAIL: 'cannot listen on 127.0.0.1:9464: it is not an address of this machine',
    ENOTFOUND: 'cannot listen on 127.0.0.1:9464: no such host',
    ESOMETHING: 'cannot listen on 127.0.0.1:9464: in the words of a developer',
  }
  for (const [code, sentence] of Object.entries(listeners)) {
    it(`of listeners: ${code} is "${sentence}"`, () => {
      assert.equal(describeListenFailure(failed(code), '127.0.0.1:9464').message, sentence)
    })
  }

  it('by time say how long it was waited', () => {
    assert.equal(timedOut(10_000).message, 'timed out after 10s')
    assert.equal(timedOut(1500).message, 'timed out after 1.5s')
    assert.equal(timedOut(250).message, 'timed out after 250ms')
  })
})
