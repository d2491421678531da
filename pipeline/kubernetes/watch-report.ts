/** What the log and own metrics say about one watch. */
import type { Surroundings } from './client.ts'
import { missingRule } from './missing-rule.ts'
import type { Attempt, Verdict } from './recovery.ts'
import { displayName, type ResourceName } from './resource-path.ts'

export type WatchReport = {
  /** Calls who listens: a mistake there must not end the watch. */
  tell(run: () => void): void
  /** An object, or an event of one, that could not be read. */
  skipped(reason: string): void
  well(): void
  over(attempt: Attempt, verdict: Verdict): void
  /** Nothing more is to be said. */
  close(): void
}

export function createWatchReport(
  { log, counters }: Surroundings,
  resource: ResourceName,
  countObjects: () => number,
): WatchReport {
  const name = displayName(resource)
  const subject = resource.namespace === undefined ? name : `${name} in namespace "${resource.namespace}"`
  const labels = { resource: name }
  const unobserve = counters.observe('gpucol_receiver_kubernetes_objects', () => [{ value: countObjects(), labels }])
  let hasMentionedSkipping = false

  return {
    tell(run) {
      try {
        run()
      } catch (error) {
        log.error(`${subject}: a change was not taken in`, { error: (error as Error).message })
      }
    },
    skipped(reason) {
      counters.add('gpucol_receiver_kubernetes_bad_objects', 1, labels)
      if (!hasMentionedSkipping) log.warn(`${subject}: an object was skipped`, { reason })
      hasMentionedSkipping = true
    },
    well: () => log.state(subject, 'ok'),
    over({ kind, opened }, { reason, unavailable, complaint }) {
      if (kind === 'watch' && opened) {
        counters.add('gpucol_receiver_kubernetes_watch_restarts', 1, { ...labels, reason })
      }
      if (complaint !== undefined) {
        const isForbidden = unavailable === 'forbidden'
        const verb = kind === 'list' ? 'list' : 'watch'
        log.state(subject, 'failing', isForbidden ? missingRule(resource, verb, complaint) : complaint)
      }
      // That a kind is not there is nobody's failure.
      if (unavailable === 'missing') log.state(subject, 'gone')
    },
    close() {
      unobserve()
      log.state(subject, 'gone')
    },
  }
}
