/**
 * Whether all that is shown has names that every format can carry. Then all escapings but `dots` write the same, and one renderer,
 * with one set of rendered labels, does for scrapers of every kind.
 */
import type { Batch } from '../../pipeline/model/batch.ts'
import type { Layout } from '../../pipeline/model/layout.ts'
import { escapesNames, type TranslationStrategy } from '../../pipeline/formats/prometheus-naming.ts'
import { hasPlainNames } from '../../pipeline/formats/render-labels.ts'
import { isPlainMetricName, type Escaping } from '../../pipeline/formats/render-names.ts'

export class PlainNames {
  readonly #strategy: TranslationStrategy
  readonly #known = new WeakMap<Layout, boolean>()

  constructor(strategy: TranslationStrategy) {
    this.#strategy = strategy
  }

  /** The escaping that stands for the one that is asked for. */
  escapingFor(asked: Escaping, batches: readonly Batch[]): Escaping {
    if (asked === 'dots' || asked === 'underscores') return asked
    return batches.every(batch => this.#isPlain(batch)) ? 'underscores' : asked
  }

  #isPlain({ source, layout }: Batch): boolean {
    // What came by OTLP is plain once it is translated, or it is not translated.
    if (source.origin !== undefined) return escapesNames(this.#strategy)
    let isPlain = this.#known.get(layout)
    if (isPlain === undefined) this.#known.set(layout, (isPlain = isPlainLayout(layout)))
    return isPlain
  }
}

function isPlainLayout({ metrics, labels }: Layout): boolean {
  if (metrics.some(({ name, family }) => !isPlainMetricName(name) || !isPlainMetricName(family))) return false
  // Label sets of one exporter share the list of their names.
  let last: readonly string[] | undefined
  for (const set of labels) {
    if (set.names === last) continue
    if (!hasPlainNames(set)) return false
    last = set.names
  }
  return true
}
