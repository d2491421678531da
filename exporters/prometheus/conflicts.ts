/** Says once where sources do not agree, and keeps count of it. */
import type { Log } from '../../pipeline/component.ts'
import type { Snapshot } from '../../pipeline/formats/render-snapshot.ts'

/** Enough to find the cause; a cluster in which everything contradicts itself must not fill the log. */
const SAID_AT_MOST = 100

/** Of what an agent pushes by `otlp_http` as it is by default, all GPUs of a node would be one series. */
const RESOURCE_HINT =
  'what was pushed may differ in its resource only: see resource_to_telemetry_conversion here and `resource` of otlp_http'

export class Conflicts {
  readonly #log: Log
  readonly #said = new Set<string>()
  #counts = new Map<string, number>()

  constructor(log: Log) {
    this.#log = log
  }

  see({ plan, contested, joined, batches }: Snapshot): void {
    this.#counts = new Map(['type', 'help', 'unit', 'name'].map(what => [what, 0]))
    for (const { what, family, text } of plan.conflicts) {
      this.#counts.set(what, this.#counts.get(what)! + 1)
      if (what === 'type') {
        this.#say(family, `sources do not agree on the type of "${family}": the first is believed, not "${text}"`)
      } else if (what === 'name') {
        this.#say(`name ${family}`, `"${family}" is not served: nothing of it can be in a name`)
      }
    }
    this.#counts.set('label', joined.size)
    for (const [label, attributes] of joined) {
      const names = attributes.map(name => `"${name}"`).join(', ')
      this.#say(`label ${label}`, `attributes ${names} are one label, "${label}": their values are joined by ";"`)
    }
    this.#counts.set('series', contested)
    if (contested > 0) {
      const isPushed = batches.some(batch => batch?.source.origin !== undefined)
      const hint = isPushed ? `; ${RESOURCE_HINT}` : ''
      this.#say('', `several sources have the same series: the newest batch is believed${hint}`, contested)
    }
  }

  counts(): { value: number; labels: { what: string } }[] {
    return Array.from(this.#counts, ([what, value]) => ({ value, labels: { what } }))
  }

  #say(subject: string, message: string, series?: number): void {
    if (this.#said.has(subject) || this.#said.size === SAID_AT_MOST) return
    this.#said.add(subject)
    this.#log.warn(message, { series })
  }
}
