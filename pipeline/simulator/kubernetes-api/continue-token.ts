/**
 * Where a list goes on: base64url of `{"v":"meta.k8s.io/v1","rv":REVISION,"start":KEY}`, with the key relative to what is listed. Clients
 * must not look into it, but some tests of clients do.
 */
import { badRequest, type StatusError } from './status.ts'

/** `revision` is undefined where the rest of the list may be of another moment than its beginning. */
export type Continuation = { readonly revision: number | undefined; readonly start: string }

const VERSION = 'meta.k8s.io/v1'
const ANY_REVISION = -1

export function encodeContinuation({ revision, start }: Continuation): string {
  const token = { v: VERSION, rv: revision ?? ANY_REVISION, start: `/${start}` }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** Throws the Status that a token of no use is answered with. */
export function decodeContinuation(text: string): Continuation {
  if (!/^[-\w]*$/.test(text)) throw invalid('illegal base64 data')
  let token: { v?: unknown; rv?: unknown; start?: unknown } | null
  try {
    token = JSON.parse(Buffer.from(text, 'base64url').toString()) as typeof token
  } catch {
    throw invalid('not a JSON document')
  }
  const { v, rv, start } = token ?? {}
  if (v !== VERSION) throw invalid(`server does not recognize this encoded version ${String(v)}`)
  if (typeof rv !== 'number' || rv === 0) throw invalid(`incorrect encoded start resourceVersion (version ${VERSION})`)
  if (typeof start !== 'string' || start === '') throw invalid(`encoded start key empty (version ${VERSION})`)
  return { revision: rv < 0 ? undefined : rv, start: start.replace(/^\//, '') }
}

function invalid(why: string): StatusError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`)
}
