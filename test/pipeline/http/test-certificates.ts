/** Certificates for tests, made when they are needed, so that none expires and no key is in the repository. */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** In PEM format. */
export type TestCertificate = { readonly cert: string; readonly key: string }

type Issuer = { readonly name: string; readonly privateKey: KeyObject }

/** A certificate authority, what makes certificates it vouches for, and its own certificate. */
export function createTestAuthority(name: string): {
  readonly cert: string
  issue(commonName: string, options?: { names?: string[]; addresses?: string[]; expired?: boolean }): TestCertificate
} {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = { name, privateKey }
  // basicConstraints: CA = true
  const extensions = extension('551d13', sequence(tlv(0x01, Buffer.of(0xff))))
  return {
    cert: certificate(issuer, name, publicKey, extensions, false),
    issue(commonName, { names = [], addresses = [], expired = false } = {}) {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const alternatives = [
        ...names.map(each => tlv(0x82, Buffer.from(each))),
        ...addresses.map(each => tlv(0x87, Buffer.from(each.split('.').map(Number)))),
      ]
      const subjectNames = alternatives.length === 0 ? Buffer.of() : extension('551d11', sequence(...alternatives))
      return {
        cert: certificate(issuer, commonName, pair.publicKey, subjectNames, expired),
        key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      }
    },
  }
}

function certificate(issuer: Issuer, subject: string, key: KeyObject, extensions: Buffer, expired: boolean): string {
  const algorithm = sequence(tlv(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
  const toSign = sequence(
    tlv(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer.name),
    sequence(time(2020), time(expired ? 2021 : 2120)),
    distinguishedName(subject),
    key.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [tlv(0xa3, sequence(extensions))]),
  )
  const signature = tlv(0x03, Buffer.concat([Buffer.of(0), sign('sha256', toSign, issuer.privateKey)]))
  const base64 = sequence(toSign, algorithm, signature).toString('base64')
  // A line that is empty, after the last full one, would be an error.
  const lines = base64.match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

/** DER: a tag, the length of the value, the value. */
function tlv(tag: number, value: Buffer): Buffer {
  const { length } = value
  if (length < 128) return Buffer.concat([Buffer.of(tag, length), value])
  if (length < 256) return Buffer.concat([Buffer.of(tag, 0x81, length), value])
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), value])
}

function sequence(...parts: Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts))
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes)
}

function time(year: number): Buffer {
  return tlv(0x18, Buffer.from(`${year}0101000000Z`))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(tlv(0x31, sequence(tlv(0x06, Buffer.from('550403', 'hex')), tlv(0x0c, Buffer.from(commonName)))))
}

function extension(identifier: string, value: Buffer): Buffer {
  return sequence(tlv(0x06, Buffer.from(identifier, 'hex')), tlv(0x04, value))
}
