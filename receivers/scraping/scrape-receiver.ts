/** What all pulling receivers are inside: targets on a schedule. */
import type { Host, Next, Receiver } from '../../pipeline/component.ts'
import { parseDuration } from '../../pipeline/config/fields.ts'
import { labelsFrom } from '../../pipeline/model/labels.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import { instanceOf, targetOptions, targetUrl, type ScrapeConfig, type UrlDefaults } from './scrape-config.ts'
import { createTarget, type Target, type TargetOptions } from './target.ts'

/** What a receiver knows of its targets. */
export type ReceiverKind = Pick<TargetOptions, 'fallback' | 'emptyIsFailure'> & { readonly urls: UrlDefaults }

export function createScrapeReceiver(config: ScrapeConfig, kind: ReceiverKind, host: Host, next: Next): Receiver {
  const { urls: defaults, ...ofKind } = kind
  const intervalMs = parseDuration(config.scrape_interval)
  const options = { ...targetOptions(config, host.clock), ...ofKind }
  let scheduler: Scheduler | undefined
  let targets: Target[] = []

  return {
    start() {
      scheduler = createScheduler(host.clock)
      // One target written twice is one target.
      const urls = new Map<string, URL>()
      for (const text of config.static_targets) {
        const url = targetUrl(text, defaults)
        if (url !== undefined) urls.set(url.href, url)
      }
      for (const url of urls.values()) {
        const labels = labelsFrom([
          ['job', host.id],
          ['instance', instanceOf(url)],
          ...Object.entries(config.labels ?? {}),
        ])
        for (const [name, values] of Object.entries(config.params ?? {})) {
          for (const value of values) url.searchParams.append(name, value)
        }
        const target = createTarget({ ...options, url: url.href, labels }, host, next)
        targets.push(target)
        scheduler.add(intervalMs, target.scrape)
      }
    },
    describe: () => `${targets.length} ${targets.length === 1 ? 'target' : 'targets'} every ${config.scrape_interval}`,
    stop() {
      scheduler?.stop()
      for (const target of targets) target.remove()
      targets = []
    },
  }
}
