/** A real Prometheus and gpucol scrape the same target and write to the same kind of receiver: both say the same. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { eventually, freePorts, startGpucol, startProcess, type GpucolProcess } from '../support/gpucol-process.ts'
import { programOrSkip } from '../support/programs.ts'
import { STALE_BITS } from '../support/remote-write-messages.ts'
import { startWriteReceiver, type WriteReceiver } from '../support/remote-write-receiver.ts'

const TEXT = `# HELP requests_total Requests that were answered, "all" of them: \\\\ and \\n too.
# TYPE requests_total counter
requests_total{code="200",job="own",Zone="a"} 5
requests_total{code="500",path="/a\\"b\\\\c\\n😀",empty=""} 1
# HELP latency_seconds How long it took.
# TYPE latency_seconds histogram
latency_seconds_bucket{le="0.1"} 3
latency_seconds_bucket{le="1"} 4
latency_seconds_bucket{le="+Inf"} 4
latency_seconds_sum 0.5
latency_seconds_count 4
# TYPE sizes summary
sizes{quantile="0.5"} NaN
sizes_sum 1e-7
sizes_count 0
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",Hostname="node-a",DCGM_FI_DRIVER_VERSION="550"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-2",Hostname="node-a",DCGM_FI_DRIVER_VERSION="550"} +Inf
undescribed 1
`
const LESS = TEXT.replace(/^DCGM.*gpu="1".*\n/m, '').replace('undescribed 1\n', '')

describe('remote write of gpucol and of Prometheus', function () {
  this.timeout(120_000)
  let folder: string
  let target: Server
  let text: string | undefined = TEXT
  const running: GpucolProcess[] = []
  const receivers: WriteReceiver[] = []

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gpucol-'))
    target = createServer((_request, response) => {
      if (text === undefined) response.writeHead(500).end()
      else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text)
    })
    await new Promise<void>(resolve => target.listen(0, '127.0.0.1', resolve))
  })
  after(async () => {
    for (const { child } of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ ended }) => ended))
    await Promise.all(receivers.map(receiver => receiver.close()))
    target.closeAllConnections()
    target.close()
    rmSync(folder, { recursive: true })
  })

  it('say the same: series, numbers, ends, descriptions and headers', async function () {
    const program = programOrSkip(this, 'prometheus')
    const [ours, theirs] = [await startWriteReceiver(), await startWriteReceiver()]
    receivers.push(ours, theirs)
    const address = `127.0.0.1:${(target.address() as AddressInfo).port}`
    const jobs = {
      global: { scrape_interval: '1s', scrape_timeout: '1s', external_labels: { cluster: 'c', job: 'not this' } },
      scrape_configs: [{ job_name: 'same', static_configs: [{ targets: [address] }] }],
    }
    const rules = [{ source_labels: ['__name__'], regex: 'sizes_count', action: 'drop' }]
    const [port] = (await freePorts(1)) as [number]
    const remote_write = [{ url: theirs.url, write_relabel_configs: rules, metadata_config: { send_interval: '1s' } }]
    writeFileSync(join(folder, 'prometheus.yaml'), stringify({ ...jobs, remote_write }))
    const config = {
      receivers: { prometheus: { config: { ...jobs, global: { scrape_interval: '1s', scrape_timeout: '1s' } } } },
      exporters: {
        prometheus_remote_write: {
          endpoint: ours.url,
          external_labels: { cluster: 'c', job: 'not this' },
          write_relabel_configs: rules,
        },
      },
      service: {
        pipelines: { metrics: { receivers: ['prometheus'], exporters: ['prometheus_remote_write'] } },
        telemetry: { metrics: { address: 'none' } },
      },
    }
    writeFileSync(join(folder, 'gpucol.yaml'), stringify(config))
    running.push(
      startProcess(program, [
        `--config.file=${join(folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]),
      startGpucol(['run', '--config', join(folder, 'gpucol.yaml')]),
    )
    for (const receiver of [ours, theirs]) await until(receiver, kinds => (kinds.get(GPU)?.length ?? 0) > 0)
    text = LESS
    for (const receiver of [ours, theirs]) await until(receiver, kinds => kinds.get(GPU)!.at(-1) === 'stale')
    text = undefined
    for (const receiver of [ours, theirs]) await until(receiver, kinds => kinds.get(LAST)!.at(-1) === 'stale')
    text = LESS
    for (const receiver of [ours, theirs]) await until(receiver, kinds => kinds.get(LAST)!.at(-1) === '4')

    assert.deepEqual(storyOf(ours), storyOf(theirs))
    const described = await eventually(
      async () => descriptions(theirs),
      found => found.length >= 4,
    )
    assert.deepEqual(descriptions(ours), described)
    for (const name of ['content-encoding', 'content-type', 'x-prometheus-remote-write-version']) {
      assert.deepEqual(valuesOf(ours, name), valuesOf(theirs, name))
    }
  })
})

const GPU_LABELS = 'DCGM_FI_DRIVER_VERSION="550",Hostname="node-a",UUID="GPU-2",cluster="c",gpu="1"'
const GPU = `DCGM_FI_DEV_GPU_UTIL{${GPU_LABELS}}`
const LAST = 'latency_seconds_count{cluster="c"}'

/** What each series was, one after the other, without repetitions; `stale` for markers. The instance is left out. */
function kindsOf(receiver: WriteReceiver): Map<string, string[]> {
  const kinds = new Map<string, string[]>()
  for (const [series, samples] of receiver.samples()) {
    const known = series.replace(/,?instance="[^"]*",job="same"/, '')
    const values = samples.map(({ value, bits }) => (bits === STALE_BITS ? 'stale' : `${value}`))
    kinds.set(
      known,
      values.filter((value, i) => value !== values[i - 1]),
    )
  }
  return kinds
}

function until(receiver: WriteReceiver, isWanted: (kinds: Map<string, string[]>) => boolean): Promise<unknown> {
  return eventually(
    async () => kindsOf(receiver),
    kinds => kinds.has(GPU) && kinds.has(LAST) && isWanted(kinds),
  )
}

/**
 * Numbers about scrapes are of each scrape; the rest is a story that both tell. Two of them Prometheus has only where it is started with
 * a flag of its own.
 */
function storyOf(receiver: WriteReceiver): [string, string[]][] {
  return [...kindsOf(receiver)]
    .filter(([series]) => !/^scrape_(body_size_bytes|timeout_seconds)\{/.test(series))
    .map(([series, values]): [string, string[]] => [series, series.startsWith('scrape_') ? [] : values])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

/** gpucol also describes what it says of targets itself. */
function descriptions(receiver: WriteReceiver): string[] {
  const all = receiver.requests.flatMap(({ metadata }) => metadata)
  const others = all.filter(({ family }) => !/^(up$|scrape_)/.test(family))
  return [...new Set(others.map(one => JSON.stringify(one)))].sort()
}

function valuesOf({ requests }: WriteReceiver, header: string): unknown[] {
  return [...new Set(requests.map(({ headers }) => headers[header]))]
}
