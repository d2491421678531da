/** What finds targets. Each way to find some is a file of its own beside this one. */
import type { Network } from '../../../pipeline/component.ts'

export type DiscoveredTarget = {
  /** `__address__`, what the source knows as `__meta_*`, and the labels the target is to have. */
  readonly labels: ReadonlyMap<string, string>
  /** Where somebody wrote a URL: it may hold a user and parameters that come more than once, and labels hold neither. */
  readonly url?: URL
  /** What requests go through, where they do not go to the address. */
  readonly through?: Through
}

/** `name` is equal for what leads to the same place. */
export type Through = { readonly name: string; readonly network: Network }

export type Discovery = {
  /**
   * Calls `update` with all targets it knows, now or later, and again whenever they change. Whoever hands on the same object for
   * a target that did not change saves its relabelling. What cannot be found out just now leaves things as they were.
   */
  start(update: (targets: readonly DiscoveredTarget[]) => void): void
  /** `update` is not called any more. May be called without `start`, and twice. */
  stop(): void
}

/** Not made before they are asked for: what became of them is kept, and not they themselves. */
export function staticDiscovery(targets: () => readonly DiscoveredTarget[]): Discovery {
  return { start: update => update(targets()), stop() {} }
}

/** The targets found now, as the objects that are known wherever they are the same. */
export function keepKnown(
  known: readonly DiscoveredTarget[],
  found: readonly DiscoveredTarget[],
): readonly DiscoveredTarget[] {
  const byText = new Map(known.map(target => [textOf(target), target]))
  const kept = found.map(target => byText.get(textOf(target)) ?? target)
  return kept.length === known.length && kept.every((target, i) => target === known[i]) ? known : kept
}

function textOf({ labels }: DiscoveredTarget): string {
  return JSON.stringify([...labels])
}
