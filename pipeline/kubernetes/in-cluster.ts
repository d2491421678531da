/** The service account of a pod: the kubelet mounts its token and the API's CA, and replaces both from time to time. */
import type { Clock } from '../component.ts'
import { createLatestAccess, type KubernetesCredentials } from './access.ts'
import type { CredentialSystem } from './credential-system.ts'
import { keepFile } from './kept-file.ts'

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

export function createInClusterCredentials(clock: Clock, system: CredentialSystem): KubernetesCredentials {
  const latest = createLatestAccess()
  let files = keepFiles()

  function keepFiles(): { token(): string; ca(): string } {
    return {
      token: keepFile(`${FOLDER}/token`, 'the token of the service account', clock, system),
      ca: keepFile(`${FOLDER}/ca.crt`, 'the CA of the service account', clock, system),
    }
  }

  return {
    async access() {
      const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = system.env
      if (host === '' || port === '') {
        const missing = host === '' ? 'KUBERNETES_SERVICE_HOST' : 'KUBERNETES_SERVICE_PORT'
        throw new Error(`no kubeconfig is set and this is no pod of a cluster: the variable ${missing} is not set`)
      }
      const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
      const headers = { authorization: `Bearer ${files.token().trim()}` }
      return latest.keep({ server, headers, tls: { ca: files.ca() } })
    },
    refused(access) {
      if (latest.is(access)) files = keepFiles()
    },
    describe: () => 'the service account',
  }
}
