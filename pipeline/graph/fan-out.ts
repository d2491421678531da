/**
 * The ways between nodes. All behind a node get the same batch, not a copy, since nobody writes into one.
 */
import { RefusedError, type Next } from '../component.ts'
import { endBatch, type Batch, type Source } from '../model/batch.ts'
import { columnCount } from '../model/layout.ts'

/** Where a node hands its batches to. What is behind it can be exchanged between two batches, which is how a reload rewires. */
export type Outlet = { readonly next: Next; connect(targets: readonly Next[]): void }

export function createOutlet(): Outlet {
  let targets: readonly Next[] = []
  return {
    next: batch => fanOut(targets, batch),
    connect(behind) {
      targets = behind
    },
  }
}

/**
 * Every branch gets the batch, whatever the others do with it. Only if all refuse does whoever has the data hear of it and keep
 * it: sending it again to those that took it would count it twice.
 */
function fanOut(targets: readonly Next[], batch: Batch): void {
  if (targets.length === 1) return targets[0]!(batch)
  let refused: RefusedError | undefined
  let refusals = 0
  for (const target of targets) {
    try {
      target(batch)
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      refused = error
      refusals++
    }
  }
  if (refused !== undefined && refusals === targets.length) throw refused
}

/**
 * A way into or out of a pipeline, which a reload may take away while what is at its ends goes on. It knows which sources came
 * along, so that they can be ended behind it.
 */
export type Way = Outlet & {
  /** Tells whoever is behind that all sources of this way are no more. */
  end(timeMs: number): void
}

export function createWay(): Way {
  const outlet = createOutlet()
  const live = new Set<Source>()
  return {
    connect: outlet.connect,
    next(batch) {
      if (batch.outcome === 'removed') live.delete(batch.source)
      // Of most targets nothing is left where roll-ups are made: there is nothing to end.
      else if (columnCount(batch.layout) > 0) live.add(batch.source)
      outlet.next(batch)
    },
    end(timeMs) {
      for (const source of live) outlet.next(endBatch(source, timeMs, 'removed'))
      live.clear()
    },
  }
}

/**
 * The way of a receiver into a pipeline. Its sources are others in each pipeline, so that an exporter at the end of two pipelines
 * does not take the series of one for a newer state of the other's.
 */
export function createEntry(): Way {
  const outlet = createOutlet()
  /** Of those that live, by what the receiver calls them. */
  const own = new Map<Source, OwnSource>()
  const entry: Way = {
    connect: outlet.connect,
    next(batch) {
      const { source } = batch
      const { memo } = source
      const known = memo !== undefined && memo.owner === entry ? (memo as OwnSource) : lookUp(source)
      if (batch.outcome === 'removed') forget(source)
      outlet.next(withSource(batch, known))
    },
    end(timeMs) {
      for (const [source, its] of own) {
        forget(source)
        outlet.next(endBatch(its, timeMs, 'removed'))
      }
    },
  }

  function lookUp(source: Source): OwnSource {
    let known = own.get(source)
    if (known === undefined) own.set(source, (known = ownSource(source, entry)))
    source.memo = known
    return known
  }

  function forget(source: Source): void {
    own.delete(source)
    if (source.memo?.owner === entry) source.memo = undefined
  }

  return entry
}

/** A source in a pipeline. */
type OwnSource = Source & { readonly owner: Way }

/** Field by field, and none that is not there: there is one for each of thousands of targets, and its copy would need more room than it. */
function ownSource({ component, name, labels, origin, node, isModelled }: Source, owner: Way): OwnSource {
  if (origin === undefined && isModelled === undefined) {
    if (node === undefined) return { component, name, labels, memo: undefined, owner }
    return { component, name, labels, node, memo: undefined, owner }
  }
  return {
    component,
    name,
    labels,
    ...(origin && { origin }),
    ...(node !== undefined && { node }),
    ...(isModelled && { isModelled }),
    memo: undefined,
    owner,
  }
}

/** Field by field: a spread copies them one by one by their names, for every batch there is. */
function withSource({ timeMs, outcome, layout, values, absent, times, starts }: Batch, source: Source): Batch {
  return { source, timeMs, outcome, layout, values, absent, times, starts }
}

/** Behind a processor: which sources it has made itself. */
export type OwnSources = {
  readonly next: Next
  /** Tells whoever is behind that they are no more. */
  end(timeMs: number): void
}

export function watchOwn(component: string, next: Next): OwnSources {
  const own = new Set<Source>()
  return {
    next(batch) {
      if (batch.source.component === component) {
        if (batch.outcome === 'removed') own.delete(batch.source)
        else own.add(batch.source)
      }
      next(batch)
    },
    end(timeMs) {
      for (const source of own) next(endBatch(source, timeMs, 'removed'))
      own.clear()
    },
  }
}
