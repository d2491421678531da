/** What every exporter that is written in Go says about itself. */
import { familyText, singleText, type FamilyText } from './exposition.ts'
import { formatShortest } from './go-number.ts'
import { fractionOf } from './random.ts'

/** A Prometheus that asks this often is what an exporter is used to. */
const SCRAPE_MS = 15_000

export function goProcessFamilies(startMs: number, timeMs: number, seed: number): FamilyText[] {
  const wobble = fractionOf(seed, Math.floor(timeMs / SCRAPE_MS))
  const requests = Math.floor((timeMs - startMs) / SCRAPE_MS)
  const handled = ['200', '500', '503']
    .map(code => `promhttp_metric_handler_requests_total{code="${code}"} ${code === '200' ? integer(requests) : 0}\n`)
    .join('')
  return [
    singleText('go_goroutines', 'gauge', 'Goroutines that there are.', String(8 + Math.floor(wobble * 4))),
    familyText('go_info', 'gauge', 'Version of Go.', 'go_info{version="go1.24.6"} 1\n'),
    singleText('process_cpu_seconds_total', 'counter', 'CPU time spent, in seconds.', integer(requests / 50)),
    singleText('process_open_fds', 'gauge', 'Open file descriptors.', String(9 + Math.floor(wobble * 3))),
    singleText(
      'process_resident_memory_bytes',
      'gauge',
      'Resident memory, in bytes.',
      integer(4096 * (5500 + 900 * wobble)),
    ),
    singleText('process_start_time_seconds', 'gauge', 'When the process started.', formatShortest(startMs / 1000)),
    familyText('promhttp_metric_handler_requests_total', 'counter', 'Scrapes by status code.', handled),
  ]
}

function integer(value: number): string {
  return formatShortest(Math.max(0, Math.floor(value)))
}
