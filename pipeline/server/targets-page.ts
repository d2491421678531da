/** What pulling receivers scrape and what they leave alone, for programs and for people. */
import type { Targets, TargetStatus } from '../component.ts'
import { page, table } from './html.ts'

export type TargetsByReceiver = ReadonlyMap<string, Targets>

/** Programs read this: keys stay. */
export function targetsJson(receivers: TargetsByReceiver): object {
  return {
    targets: rowsOf(receivers, ({ active }) => active).map(({ receiver, url, labels, node, state, ...target }) => ({
      receiver,
      url,
      labels: recordFrom(labels),
      node,
      state,
      interval_seconds: target.intervalMs / 1000,
      last_scrape: target.lastScrape && timeText(target.lastScrape),
      duration_seconds: target.lastScrape?.durationSeconds,
      samples: target.lastScrape?.samples,
      error: target.lastScrape?.error,
    })),
    dropped: rowsOf(receivers, ({ dropped }) => dropped).map(({ receiver, labels, reason }) => ({
      receiver,
      labels: recordFrom(labels),
      reason,
    })),
    dropped_count: droppedCount(receivers),
  }
}

export function targetsHtml(receivers: TargetsByReceiver): string {
  const active = rowsOf(receivers, targets => targets.active)
  const dropped = rowsOf(receivers, targets => targets.dropped)
  const up = active.filter(({ state }) => state === 'up').length
  const total = droppedCount(receivers)
  return page('gpucol: targets', [
    '<h1>Targets</h1>',
    `<p>${active.length} targets, ${up} of them up</p>`,
    table(
      ['receiver', 'URL', 'state', 'error', 'labels', 'last scrape', 'duration', 'samples'],
      active.map(({ receiver, url, state, labels, lastScrape }) => [
        receiver,
        url,
        state,
        lastScrape?.error ?? '',
        labelsText(labels),
        ...(lastScrape === undefined
          ? ['', '', '']
          : [timeText(lastScrape), `${lastScrape.durationSeconds.toFixed(3)} s`, String(lastScrape.samples)]),
      ]),
    ),
    '<h2>Found, but not scraped</h2>',
    `<p>${total} dropped${dropped.length < total ? `, the first ${dropped.length} of them here` : ''}</p>`,
    table(
      ['receiver', 'reason', 'labels before relabelling'],
      dropped.map(({ receiver, reason, labels }) => [receiver, reason, labelsText(labels)]),
    ),
  ])
}

function rowsOf<T>(
  receivers: TargetsByReceiver,
  list: (targets: Targets) => readonly T[],
): (T & { receiver: string })[] {
  return Array.from(receivers, ([receiver, targets]) => list(targets).map(one => ({ ...one, receiver }))).flat()
}

function droppedCount(receivers: TargetsByReceiver): number {
  return receivers.values().reduce((sum, targets) => sum + targets.droppedCount, 0)
}

function timeText({ timeMs }: { readonly timeMs: number }): string {
  return new Date(timeMs).toISOString()
}

function recordFrom({ names, values }: TargetStatus['labels']): Record<string, string> {
  return Object.fromEntries(names.map((name, i) => [name, values[i]!]))
}

function labelsText({ names, values }: TargetStatus['labels']): string {
  return names.map((name, i) => `${name}="${values[i]}"`).join(' ')
}
