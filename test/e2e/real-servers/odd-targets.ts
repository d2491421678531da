/** Targets that show all that a source may write, and that come, go and fail as a test wants it. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type OddTargets = {
  readonly address: string
  /** What is not there any more: lines that begin with one of these. */
  gone: readonly string[]
  /** Whether the one at `/failing` fails. */
  isFailing: boolean
  /** Whether numbers stay as they are. */
  isStill: boolean
  close(): Promise<void>
}

/**
 * `text`: what Prometheus' own format has; `openmetrics`: what only OpenMetrics has. `N` is a number that grows with every scrape,
 * `T` one that has a time of its own, some seconds ago.
 */
const PAGES: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  text: {
    type: 'text/plain; version=1.0.0; escaping=allow-utf-8',
    text: `# HELP requests_total Requests that were answered, "all" of them: \\\\ and \\n too.
# TYPE requests_total counter
requests_total{code="200",path="/a\\"b\\\\c\\n😀",empty=""} N
requests_total{code="500"} 1e+300
# TYPE uncounted counter
uncounted{kind="counter without the suffix"} N
# HELP latency_seconds How long it took.
# TYPE latency_seconds histogram
latency_seconds_bucket{zone="a",le="0.1"} 3
latency_seconds_bucket{zone="a",le="1"} 4
latency_seconds_bucket{zone="a",le="1e+06"} 4
latency_seconds_bucket{zone="a",le="+Inf"} N
latency_seconds_sum{zone="a"} 0.30000000000000004
latency_seconds_count{zone="a"} N
latency_seconds_bucket{zone="b",le="+Inf"} 2
latency_seconds_sum{zone="b"} NaN
latency_seconds_count{zone="b"} 2
# TYPE wait_seconds summary
wait_seconds{quantile="0.5"} NaN
wait_seconds{quantile="0.99"} 1.5
wait_seconds{quantile="1"} 7
wait_seconds_sum 1e-7
wait_seconds_count N
# TYPE odd gauge
odd{kind="not a number"} NaN
odd{kind="infinite"} +Inf
odd{kind="infinite below"} -Inf
odd{kind="smallest"} 5e-324
odd{kind="largest"} 1.7976931348623157e+308
odd{kind="below nothing"} -0
odd{kind="exact"} 9007199254740993
odd{kind="growing"} N
{"odd.name","odd.label"="ü",plain="x"} N
undescribed 1
stamped T
short{of="no end"} N
# TYPE info_like gauge
info_like{version="1",Zone="a",job="own job",instance="own instance"} 1
`,
  },
  openmetrics: {
    type: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
    text: `# TYPE jobs counter
# UNIT jobs jobs
# HELP jobs With a beginning.
jobs_total{queue="a"} N
jobs_created{queue="a"} 1600000000.5
# TYPE build info
build_info{version="1.2"} 1
# TYPE phase stateset
phase{phase="on"} 1
phase{phase="off"} 0
# TYPE sizes gaugehistogram
sizes_bucket{le="1.0"} 2
sizes_bucket{le="+Inf"} 3
sizes_gsum 5
sizes_gcount 3
# TYPE temperature_celsius gauge
# UNIT temperature_celsius celsius
temperature_celsius 21.5
# TYPE whatever unknown
whatever N
# EOF
`,
  },
}

export async function startOddTargets(): Promise<OddTargets> {
  // More than the other buckets have.
  let number = 10
  let stampMs = Math.floor(Date.now() / 5000) * 5000
  const server = createServer(({ url = '' }, response) => {
    const { type, text } = PAGES[url === '/openmetrics' ? 'openmetrics' : 'text']!
    if (url === '/failing' && targets.isFailing) {
      response.writeHead(500).end()
      return
    }
    // A scraper that notices an end later than others also notices later that such a series is back: nobody ends these.
    const gone = url === '/text' ? targets.gone : [...targets.gone, 'stamped']
    const lines = text.split('\n').filter(line => !gone.some(beginning => line.startsWith(beginning)))
    if (!targets.isStill) {
      number++
      stampMs = Math.floor(Date.now() / 5000) * 5000
    }
    const page = lines
      .join('\n')
      .replaceAll(/ N$/gm, ` ${number}`)
      .replace(/ T$/m, ` ${stampMs / 1000} ${stampMs}`)
    response.writeHead(200, { 'content-type': type }).end(page)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const targets: OddTargets = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    gone: [],
    isFailing: false,
    isStill: false,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
  return targets
}
