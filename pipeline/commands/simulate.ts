/** `gpucol simulate`: a GPU cluster without GPUs, for others to scrape, until it is told to end. */
import { parse } from 'yaml'
import { deadlineIn } from '../clock/deadline.ts'
import { createSystemClock } from '../clock/system-clock.ts'
import { validatorFor } from '../config/validator.ts'
import { createNetwork } from '../http/network.ts'
import { startSimulation, type Simulation } from '../simulator/simulation.ts'
import {
  simulationOptions,
  simulatorConfig,
  simulatorProblems,
  type SimulatorConfig,
} from '../simulator/simulator-config.ts'
import { refusePositionals, stringsOf, UsageError, type Command, type CommandArguments } from './command.ts'

/** Options by name, with the key of the extension's config that each sets. */
const KEY_OF_OPTION: Readonly<Record<string, string>> = {
  nodes: 'nodes',
  'gpus-per-node': 'gpus_per_node',
  seed: 'seed',
  listen: 'endpoint',
  generation: 'generation',
  'collect-interval': 'collect_interval',
  start: 'start',
  speed: 'speed',
}
/** Values that are text whatever they look like: a generation is `4.8`, not a number. */
const TEXTS: ReadonlySet<string> = new Set(['listen', 'generation', 'collect-interval', 'start'])

/** More targets than these are not all printed. */
const MOST_TARGETS = 32
const CLOSE_MS = 1000

export const simulate: Command = {
  name: 'simulate',
  summary: 'runs a simulated GPU cluster to collect from.',
  help: `Usage: gpucol simulate [OPTIONS]

Serves the exporters, kubelets, kube-state-metrics and the Kubernetes API of a cluster that does not exist, over real HTTP, until
Ctrl-C. The same seed, size and time give the same bytes.

  --nodes N              How many nodes (4).
  --gpus-per-node N      How many GPUs in each (8).
  --seed N               Which of all possible clusters (1).
  --listen HOST:PORT     Address of all servers (127.0.0.1:19400).
  --node-ports           Give each node a port of its own too; always so up to 16 nodes.
  --generation VERSION   Whose text the dcgm-exporters speak: 1.x, 2.x, 3.3.5, 4.8, 4.9 or mixed (4.8).
  --collect-interval D   How often readings change (10s).
  --shards N             How many kube-state-metrics there are (1).
  --streaming-lists      Let the Kubernetes API answer watches that ask for the initial state, as from 1.34 on.
  --token MAP            Who may read the Kubernetes API, as '{ token: secret, user: me, rules: [{ apiGroups: [""], resources: [pods],
                         verbs: [list, watch] }] }'. May be repeated; without it everybody may read everything.
  --start TIME           What the cluster's clock shows at first, as 2026-01-31T08:00:00Z (now).
  --speed N              Seconds of the cluster in one second; 0 lets its clock stand (1).
  --fault MAP            What goes wrong, as '{ kind: slow, endpoints: [node-1], from: 1m, for: 30s, delay: 3s }'. May be repeated.
                         The keys are those of \`faults\` in the config of the extension \`simulator\`.
`,
  options: {
    ...Object.fromEntries(Object.keys(KEY_OF_OPTION).map(name => [name, { type: 'string' } as const])),
    'node-ports': { type: 'boolean' },
    shards: { type: 'string' },
    'streaming-lists': { type: 'boolean' },
    token: { type: 'string', multiple: true },
    fault: { type: 'string', multiple: true },
  },
  async run(args, { out, err, signal, registries }) {
    refusePositionals(args)
    const config = configFrom(args)
    const clock = createSystemClock()
    const network = createNetwork(clock)
    let simulation: Simulation
    try {
      simulation = await startSimulation(simulationOptions(config), { clock, network })
    } catch (error) {
      err(`gpucol simulate: ${(error as Error).message}\n`)
      return 1
    }
    const before = process.cpuUsage()
    const receivers = new Set((await registries()).receivers.map(({ type }) => type))
    out(describe(config, simulation) + configSnippet(config, simulation, receivers))
    await new Promise<void>(resolve => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await simulation.close(deadlineIn(clock, CLOSE_MS))
    await network.close()
    out(describeCost(simulation, process.cpuUsage(before)))
    return 0
  },
}

function configFrom(args: CommandArguments): SimulatorConfig {
  const config: Record<string, unknown> = {}
  for (const [option, key] of Object.entries(KEY_OF_OPTION)) {
    const value = args.values[option]
    if (typeof value === 'string') config[key] = TEXTS.has(option) ? value : valueFrom(option, value)
  }
  const { shards } = args.values
  if (typeof shards === 'string') config['kube_state_metrics'] = { shards: valueFrom('shards', shards) }
  const tokens = stringsOf(args, 'token').map(text => valueFrom('token', text))
  config['kubernetes_api'] = {
    ...(args.values['streaming-lists'] === true && { streaming_lists: true }),
    ...(tokens.length > 0 && { tokens }),
  }
  if (args.values['node-ports'] === true) config['node_ports'] = true
  config['faults'] = stringsOf(args, 'fault').map(text => valueFrom('fault', text))

  const [error] = validatorFor(simulatorConfig)(config)
  if (error !== undefined) {
    const path = error.instancePath.slice(1).replaceAll('/', '.')
    throw new UsageError(`${path === '' ? 'the options' : path} ${error.message}`)
  }
  const [problem] = simulatorProblems(config as SimulatorConfig)
  if (problem !== undefined) throw new UsageError(`${problem.path.join('.')}: ${problem.message}`)
  return config as SimulatorConfig
}

function valueFrom(option: string, text: string): unknown {
  try {
    return parse(text) as unknown
  } catch {
    throw new UsageError(`--${option}: "${text}" is not understood`)
  }
}

function describe({ nodes, gpus_per_node: gpus, seed }: SimulatorConfig, { address, faces }: Simulation): string {
  const lines = faces.map(face => {
    const paths = face.paths()
    const last = paths.length > 2 ? ` to http://${address}${paths.at(-1)}` : paths.length > 1 ? ` and ${paths[1]}` : ''
    return `  ${face.name.padEnd(20)}http://${address}${paths[0]}${last}\n`
  })
  return `A simulated cluster of ${nodes} nodes with ${gpus} GPUs each (seed ${seed}) is up, until Ctrl-C:\n\n${lines.join('')}\n`
}

/** So that a benchmark knows what the cluster itself took of the machine. */
function describeCost({ served }: Simulation, { user, system }: NodeJS.CpuUsage): string {
  const megabytes = served.bytes / 1e6
  const cpuMs = (user + system) / 1000
  const perMegabyte = megabytes > 0 ? `, ${(cpuMs / megabytes).toFixed(2)} ms per MB` : ''
  return `\nServed ${served.requests} requests and ${megabytes.toFixed(1)} MB in ${(cpuMs / 1000).toFixed(2)} s of CPU${perMegabyte}.\n`
}

/** A config to paste, of receivers that there are. */
function configSnippet({ nodes }: SimulatorConfig, simulation: Simulation, receivers: ReadonlySet<string>): string {
  const { address, nodeAddresses, faces } = simulation
  const targets: Record<string, readonly string[]> = Object.fromEntries(
    faces.map(face => [face.name, face.paths().map(path => `http://${address}${path}`)]),
  )
  const nodeTargets = nodeAddresses.map(nodeAddress => `http://${nodeAddress}/metrics`)
  const byReceiver = {
    dcgm: nodeTargets.length > 0 ? nodeTargets : targets['dcgm_exporter']!,
    kube_state_metrics: targets['kube_state_metrics']!,
  }
  const known = Object.entries(byReceiver).filter(([receiver]) => receivers.has(receiver))
  const sections = known.map(([receiver, urls]) => `  ${receiver}:\n    static_targets:\n${targetLines(urls, nodes)}`)
  return `To collect from it, for example:

receivers:
${sections.join('')}exporters:
  prometheus: {}
service:
  pipelines:
    metrics: { receivers: [${known.map(([receiver]) => receiver).join(', ')}], exporters: [prometheus] }
`
}

function targetLines(urls: readonly string[], nodes: number): string {
  const shown = urls.slice(0, MOST_TARGETS).map(url => `      - ${url}\n`)
  return shown.join('') + (urls.length > shown.length ? `      # and so on, for all ${nodes} nodes\n` : '')
}
