/** `gpucol explain`: asks a running gpucol how a pod came to its workload, project and the other labels, and to its GPUs. */
import { createSystemClock } from '../clock/system-clock.ts'
import { createNetwork } from '../http/network.ts'
import { readBody } from '../http/read-body.ts'
import { UsageError, type Command, type CommandArguments } from './command.ts'

const TIMEOUT_MS = 10_000
const LIMIT_BYTES = 16_000_000

export const explain: Command = {
  name: 'explain',
  summary: 'asks a running gpucol how a pod came to its labels.',
  help: `Usage: gpucol explain POD [--namespace NS] [--address HOST:PORT] [--output text|json]

Prints the owners above the pod, and for each label the look-up or the owner that decided; the devices that the pod has, how much of
each and what tells it; and devices that name the pod and are not its. Asks the extension \`web\`, which must be in
service.extensions. Ends with 1 if the pod is not known or could be several.

  --namespace NS   Of the pod; not needed where only one namespace has such a pod. NS/POD means the same.
  --address HOST:PORT
                   Where the extension listens (127.0.0.1:8080).
  --output FORMAT  text or json (text).
`,
  options: { namespace: { type: 'string' }, address: { type: 'string' }, output: { type: 'string' } },
  async run(args, { out, err, signal }) {
    const { address, query, accept } = questionFrom(args)
    const network = createNetwork(createSystemClock())
    const request = { url: `http://${address}/explain?${query}`, headers: { accept }, timeoutMs: TIMEOUT_MS }
    try {
      const { status, body } = await readBody(network, request, LIMIT_BYTES, signal)
      const answer = body.toString('utf8')
      if (status === 200) out(answer)
      else err(answer)
      return status === 200 ? 0 : 1
    } catch (error) {
      const hint = 'does gpucol run there, with web in service.extensions?'
      err(`gpucol explain: no answer from ${address}: ${(error as Error).message}; ${hint}\n`)
      return 1
    } finally {
      await network.close()
    }
  },
}

function questionFrom({ values, positionals }: CommandArguments): { address: string; query: string; accept: string } {
  const [text, surplus] = positionals
  if (text === undefined) throw new UsageError('the name of a pod is missing')
  if (surplus !== undefined) throw new UsageError(`unexpected argument "${surplus}"`)
  const [, before, pod] = /^(?:([^/]*)\/)?(.*)$/.exec(text)!
  const namespace = typeof values['namespace'] === 'string' ? values['namespace'] : before
  if (before !== undefined && before !== namespace) {
    throw new UsageError(`the pod is said to be in namespace "${before}" and in "${namespace}"`)
  }
  const output = values['output'] ?? 'text'
  if (output !== 'text' && output !== 'json')
    throw new UsageError(`--output: "${String(output)}" is neither text nor json`)
  const address = typeof values['address'] === 'string' ? values['address'] : '127.0.0.1:8080'
  if (!/^[^/]+:\d+$/.test(address)) throw new UsageError(`--address: "${address}" is not HOST:PORT`)
  const query = new URLSearchParams({ pod: pod!, ...(namespace !== undefined && { namespace }) })
  return { address, query: String(query), accept: output === 'json' ? 'application/json' : 'text/plain' }
}
