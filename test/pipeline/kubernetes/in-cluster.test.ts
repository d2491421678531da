import assert from 'node:assert/strict'
import { createVirtualClock } from '../../../pipeline/clock/virtual-clock.ts'
import { createKubernetesCredentials } from '../../../pipeline/kubernetes/credentials.ts'
import { fakeSystem } from './fake-system.ts'

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'
const ENV = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' }

function pod(env: Record<string, string> = ENV) {
  const clock = createVirtualClock(0)
  const system = fakeSystem({ [`${FOLDER}/token`]: 'first\n', [`${FOLDER}/ca.crt`]: 'the CA' }, env)
  return { clock, system, credentials: createKubernetesCredentials({ kubeconfig: '', clock, system }) }
}

describe('the service account of a pod', () => {
  it('is used where there is no kubeconfig', async () => {
    const { credentials } = pod()
    assert.deepEqual(await credentials.access(), {
      server: 'https://10.0.0.1:443',
      headers: { authorization: 'Bearer first' },
      tls: { ca: 'the CA' },
    })
    assert.equal(credentials.describe(), 'the service account')
  })

  it('works where addresses are IPv6', async () => {
    const { credentials } = pod({ ...ENV, KUBERNETES_SERVICE_HOST: 'fd00::1' })
    assert.equal((await credentials.access()).server, 'https://[fd00::1]:443')
  })

  it('notices a new token and a new CA', async () => {
    const { credentials, system, clock } = pod()
    const first = await credentials.access()
    system.files.set(`${FOLDER}/token`, 'second')
    system.files.set(`${FOLDER}/ca.crt`, 'another CA')
    assert.equal(await credentials.access(), first)
    await clock.advance(10_000)
    const second = await credentials.access()
    assert.deepEqual([second.headers, second.tls], [{ authorization: 'Bearer second' }, { ca: 'another CA' }])
  })

  it('notices it at once when the old token was refused', async () => {
    const { credentials, system } = pod()
    const first = await credentials.access()
    system.files.set(`${FOLDER}/token`, 'second')
    credentials.refused(first)
    assert.deepEqual((await credentials.access()).headers, { authorization: 'Bearer second' })
  })

  for (const [what, change] of [
    ['cannot be read', files => files.delete(`${FOLDER}/token`)],
    ['is just being written', files => files.set(`${FOLDER}/token`, '')],
  ] as [string, (files: Map<string, string>) => void][]) {
    it(`goes on with the token it has while the file ${what}`, async () => {
      const { credentials, system, clock } = pod()
      const first = await credentials.access()
      change(system.files)
      await clock.advance(60_000)
      assert.equal(await credentials.access(), first)
    })
  }

  it('says what is missing', async () => {
    await assert.rejects(
      pod({}).credentials.access(),
      /^Error: no kubeconfig is set and this is no pod of a cluster: the variable KUBERNETES_SERVICE_HOST is not set$/,
    )
    const { credentials, system } = pod()
    system.files.delete(`${FOLDER}/token`)
    await assert.rejects(credentials.access(), {
      message: `cannot read the token of the service account "${FOLDER}/token": there is no such file`,
    })
  })
})
