/** Names that come in numbers: `..._L{0..17}` stands for eighteen names. */

const RUN = /^(.*)\{(\d{1,3})\.\.(\d{1,3})\}(.*)$/

/** All names that a pattern stands for, in order; a name without a pattern is itself. */
export function expandNames(pattern: string): readonly string[] {
  const [, before, first, last, after] = RUN.exec(pattern) ?? []
  if (first === undefined) return [pattern]
  const count = Number(last) - Number(first) + 1
  return Array.from({ length: Math.max(0, count) }, (_, i) => `${before}${Number(first) + i}${after}`)
}
