/** What a request to the Kubernetes API needs, and who says so. */
import type { TlsOptions } from '../component.ts'

/** The same object as long as nothing changes. */
export type KubernetesAccess = {
  /** The address of the API, without a slash at the end. */
  readonly server: string
  readonly headers: Readonly<Record<string, string>>
  readonly tls?: TlsOptions
  readonly proxyUrl?: string
}

export type KubernetesCredentials = {
  /** Rejects with a sentence that says what is missing or wrong, and never with a secret. */
  access(): Promise<KubernetesAccess>
  /** The API did not take this for anybody (401): the next access is read or made anew. */
  refused(access: KubernetesAccess): void
  /** Where they come from. */
  describe(): string
}

export type LatestAccess = {
  /** The latest one if it says the same. */
  keep(access: KubernetesAccess): KubernetesAccess
  is(access: KubernetesAccess): boolean
}

export function createLatestAccess(): LatestAccess {
  let latest: KubernetesAccess | undefined
  let latestText = ''
  return {
    keep(access) {
      const text = JSON.stringify(access)
      if (latest !== undefined && text === latestText) return latest
      latestText = text
      latest = access
      return access
    },
    is: access => access === latest,
  }
}
