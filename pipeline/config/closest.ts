/** "Did you mean": the word that was probably meant. */

/** The candidate nearest to a misspelt word, or undefined if none is near enough. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Infinity
  const wanted = fold(word)
  for (const candidate of candidates) {
    const found = fold(candidate)
    const allowed = Math.max(1, Math.floor(Math.max(wanted.length, found.length) / 3))
    // A name that was cut off, or has something added, is meant as well: `interval` for `scrape_interval`.
    const part = Math.min(wanted.length, found.length) >= 4 && (found.includes(wanted) || wanted.includes(found))
    const distance = Math.min(part ? allowed : Infinity, editDistance(wanted, found, allowed))
    const isNear = distance <= allowed && distance < Math.min(wanted.length, found.length)
    if (isNear && distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Case and separators are the most frequent mistakes and count as none: `scrapeInterval`, `scrape-interval`. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '')
}

/** Insertions, deletions, replacements and swaps of neighbours; gives up with Infinity where it must exceed `limit`. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return Infinity
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const replaced = last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1)
      let distance = Math.min(replaced, last[column]! + 1, current[column - 1]! + 1)
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
      if (swapped) distance = Math.min(distance, beforeLast[column - 2]! + 1)
      current.push(distance)
    }
    if (Math.min(...current) > limit) return Infinity
    beforeLast = last
    last = current
  }
  return last[b.length]!
}
