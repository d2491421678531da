/**
 * Randomness that depends on nothing but numbers: the same seed gives the same cluster on every machine.
 *
 * Two kinds: a generator, for decisions taken one after the other, and hashes, for values that must be the same whenever and
 * in whatever order they are asked for (the noise of a reading at a moment).
 */

export type Random = {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number from 0 up to, not including, the limit. */
  below(limit: number): number
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
  /** One of the list, as likely as its weight. */
  weighted<T extends { readonly weight: number }>(list: readonly T[]): T
  /** Waiting times of things that happen independently of each other. */
  exponential(mean: number): number
  /** A random tail of a name, from the letters Kubernetes uses: no vowels, so no words. */
  suffix(length: number): string
  uuid(): string
}

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * Two generators may come to the same state: among hundreds of thousands some do, as it has 32 bits only. The `stream`, a number of
 * the generator's own, keeps their uuids apart all the same.
 */
export function createRandom(seed: number, stream = 0): Random {
  let state = seed >>> 0
  // Weyl sequence through a mixer: every 32-bit state is visited once, and neighbouring seeds share nothing visible.
  function bits(): number {
    state = (state + 0x9e3779b9) >>> 0
    return mix(state)
  }
  const random: Random = {
    next: () => bits() / 0x1_0000_0000,
    below: limit => Math.floor(random.next() * limit),
    between: (low, high) => low + random.next() * (high - low),
    chance: probability => random.next() < probability,
    pick: list => list[random.below(list.length)]!,
    weighted(list) {
      let left = random.next() * list.reduce((sum, item) => sum + item.weight, 0)
      for (const item of list) {
        left -= item.weight
        if (left < 0) return item
      }
      return list.at(-1)!
    },
    exponential: mean => -mean * Math.log(1 - random.next()),
    suffix(length) {
      let text = ''
      for (let at = 0; at < length; at++) text += SUFFIX_LETTERS[random.below(SUFFIX_LETTERS.length)]
      return text
    },
    uuid: () => formatUuid(bits(), bits(), bits(), bits() ^ mix(stream)),
  }
  return random
}

/** 32 bits that look unrelated to the input. */
export function mix(value: number): number {
  value = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  value = Math.imul(value ^ (value >>> 15), 0x735a2d97)
  return (value ^ (value >>> 15)) >>> 0
}

/** One hash of two whole numbers. */
export function hashOf(a: number, b: number): number {
  return mix(mix(a) + Math.imul(b, 0x9e3779b1))
}

export function hashText(text: string, seed = 0): number {
  let hash = mix(seed)
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return mix(hash)
}

/** From 0 up to 1, by two whole numbers. */
export function fractionOf(a: number, b: number): number {
  return hashOf(a, b) / 0x1_0000_0000
}

/** The UUID of a thing that has a number. */
export function uuidOf(seed: number, number: number): string {
  const first = hashOf(seed, number)
  return formatUuid(first, hashOf(first, 1), hashOf(first, 2), hashOf(first, 3))
}

/** Version 4 and the usual variant, as every API server makes them. */
function formatUuid(a: number, b: number, c: number, d: number): string {
  const second = hex(b)
  const third = hex((c & 0x3fff_ffff) | 0x8000_0000)
  return `${hex(a)}-${second.slice(0, 4)}-4${second.slice(5)}-${third.slice(0, 4)}-${third.slice(4)}${hex(d)}`
}

function hex(value: number): string {
  return ((value >>> 0) + 0x1_0000_0000).toString(16).slice(1)
}
