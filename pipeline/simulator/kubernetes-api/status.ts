/** The Status objects that the API answers with when it does not answer with what was asked for. */

export type StatusBody = {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly continue?: string }
  readonly status: 'Failure'
  readonly message: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code: number
}

export type StatusDetails = {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly causes?: readonly { readonly reason: string; readonly message: string; readonly field?: string }[]
  readonly retryAfterSeconds?: number
}

/** What is thrown to be answered. */
export class StatusError extends Error {
  override name = 'StatusError'
  readonly body: StatusBody

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    rest: { details?: StatusDetails; continue?: string } = {},
  ) {
    super(message)
    this.body = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: rest.continue === undefined ? {} : { continue: rest.continue },
      status: 'Failure',
      message,
      ...(reason !== undefined && { reason }),
      ...(rest.details && { details: rest.details }),
      code,
    }
  }
}

type ResourceName = { readonly group: string; readonly plural: string }

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message)
}

export function unauthorized(): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized')
}

/** `what` says who may not do what, in the words of RBAC. */
export function forbidden(resource: ResourceName | undefined, name: string | undefined, what: string): StatusError {
  const subject = resource === undefined ? 'forbidden' : `${qualified(resource, name)} is forbidden`
  return new StatusError(403, 'Forbidden', `${subject}: ${what}`, { details: detailsOf(resource, name) })
}

export function notFound(resource: ResourceName, name: string): StatusError {
  return new StatusError(404, 'NotFound', `${qualified(resource, name)} not found`, {
    details: detailsOf(resource, name),
  })
}

/** For paths that lead to nothing. */
export function noSuchResource(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', { details: {} })
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource'
  return new StatusError(405, 'MethodNotAllowed', message, { details: {} })
}

export function notAcceptable(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message)
}

export function expired(message: string, continueToken?: string): StatusError {
  return new StatusError(410, 'Expired', message, continueToken === undefined ? {} : { continue: continueToken })
}

/** Options of a list or watch that do not go together. */
export function invalidOptions(problems: readonly { field: string; reason: string; message: string }[]): StatusError {
  const texts = problems.map(({ field, message }) => `${field}: ${message}`)
  const list = texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`
  const causes = problems.map(({ field, reason, message }) => ({ reason, message, field }))
  return new StatusError(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${list}`, {
    details: { group: 'meta.k8s.io', kind: 'ListOptions', causes },
  })
}

/** An API server in trouble. */
export function failing(code: number): StatusError {
  if (code === 401) return unauthorized()
  const reason = code === 503 ? 'ServiceUnavailable' : code === 429 ? 'TooManyRequests' : 'InternalError'
  const details = reason === 'InternalError' ? {} : { retryAfterSeconds: 1 }
  return new StatusError(code, reason, 'the server is currently unable to handle the request', { details })
}

export function tooLargeVersion(asked: string, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`
  return new StatusError(504, 'Timeout', message, {
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  })
}

function qualified({ group, plural }: ResourceName, name: string | undefined): string {
  const resource = group === '' ? plural : `${plural}.${group}`
  return name === undefined ? resource : `${resource} "${name}"`
}

function detailsOf(resource: ResourceName | undefined, name: string | undefined): StatusDetails {
  if (resource === undefined) return {}
  return {
    ...(name !== undefined && { name }),
    ...(resource.group !== '' && { group: resource.group }),
    kind: resource.plural,
  }
}
