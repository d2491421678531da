/** All that push: one source for each resource and scope, as many as there may be, until nothing comes of them any more. */
import type { ResourceParts, ScopeParts } from '../../pipeline/formats/otlp-points.ts'
import { jobAndInstance } from '../../pipeline/formats/resource-labels.ts'
import { commonLabels, originKey, originOf, pointLabels, sourceName } from './origin-labels.ts'
import { MAX_ATTRIBUTE_BYTES, PushedSource, RejectedError } from './pushed-source.ts'

export type SourceLimits = {
  readonly sources: number
  /** Of all sources together. */
  readonly series: number
  readonly seriesPerSource: number
  readonly attributesPerPoint: number
}

/** A resource may be written in several ways, which are all remembered up to so many for each on average. */
const MAX_SPELLINGS = 4

export class Sources {
  readonly #component: string
  readonly #limits: SourceLimits
  readonly #used = { series: 0 }
  readonly #byKey = new Map<string, PushedSource>()
  #bySpelling = new Map<string, PushedSource>()

  constructor(component: string, limits: SourceLimits) {
    this.#component = component
    this.#limits = limits
  }

  get size(): number {
    return this.#byKey.size
  }

  get seriesCount(): number {
    return this.#used.series
  }

  all(): Iterable<PushedSource> {
    return this.#byKey.values()
  }

  /** Throws `RejectedError` if there are too many, and `MalformedError` if attributes are none. */
  sourceOf(resource: ResourceParts, scope: ScopeParts): PushedSource {
    if (sizeOf(resource, scope) > MAX_ATTRIBUTE_BYTES) {
      throw new RejectedError(`a resource and scope have more than ${MAX_ATTRIBUTE_BYTES} bytes`)
    }
    const spelling = spellingOf(resource, scope)
    const known = this.#bySpelling.get(spelling)
    if (known !== undefined) return known
    const origin = originOf(resource, scope)
    const key = originKey(origin)
    let source = this.#byKey.get(key)
    if (source === undefined) {
      if (this.size >= this.#limits.sources) throw new RejectedError('there are too many resources and scopes')
      source = this.#create(origin)
      this.#byKey.set(key, source)
    }
    if (this.#bySpelling.size < this.#limits.sources * MAX_SPELLINGS) this.#bySpelling.set(spelling, source)
    return source
  }

  #create(origin: ReturnType<typeof originOf>): PushedSource {
    const common = commonLabels(origin)
    const node = origin.resource.attributes.get('k8s.node.name')
    const { attributesPerPoint, seriesPerSource, series } = this.#limits
    const source: PushedSource = new PushedSource(
      {
        component: this.#component,
        name: sourceName(origin),
        labels: jobAndInstance(origin.resource.attributes),
        origin,
        ...(typeof node === 'string' && { node }),
      },
      {
        used: this.#used,
        labelsOf(attributes) {
          if (attributes.size > attributesPerPoint) {
            throw new RejectedError(`a point has more than ${attributesPerPoint} attributes`)
          }
          return pointLabels(attributes, common)
        },
        room: () => Math.min(seriesPerSource - source.columns.count, series - this.#used.series),
      },
    )
    return source
  }

  /** Forgets sources that have nothing any more. */
  delete(gone: ReadonlySet<PushedSource>): void {
    for (const [key, source] of this.#byKey) if (gone.has(source)) this.#byKey.delete(key)
    for (const [spelling, source] of this.#bySpelling) if (gone.has(source)) this.#bySpelling.delete(spelling)
  }
}

function sizeOf({ attributes, schemaUrl }: ResourceParts, scope: ScopeParts): number {
  const texts = schemaUrl.length + scope.name.length + scope.version.length + scope.schemaUrl.length
  return texts + attributes.end - attributes.start + scope.attributes.end - scope.attributes.start
}

function spellingOf(resource: ResourceParts, scope: ScopeParts): string {
  const parts = [resource.schemaUrl, scope.name, scope.version, scope.schemaUrl, bytesText(resource.attributes)]
  // Lengths, so that one text cannot be taken for two others.
  return `${parts.map(part => part.length).join(' ')} ${parts.join('')}${bytesText(scope.attributes)}`
}

/** A character for each byte: quick to make and to compare. */
function bytesText({ bytes, start, end }: ResourceParts['attributes']): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}
