/** What changed, as `diff -u` shows it. Migrating changes lines and neither adds nor removes any. */

const CONTEXT = 3
const NO_NEWLINE = '\\ No newline at end of file'

export function lineDiff(name: string, before: string, after: string): string {
  const [old, changed] = [before.split('\n'), after.split('\n')]
  const differing = old.flatMap((line, i) => (line === changed[i] ? [] : [i]))
  if (differing.length === 0) return ''
  const hunks: { from: number; to: number }[] = []
  for (const i of differing) {
    const [from, to] = [Math.max(0, i - CONTEXT), Math.min(old.length, i + CONTEXT + 1)]
    const last = hunks.at(-1)
    if (last !== undefined && from <= last.to) last.to = to
    else hunks.push({ from, to })
  }
  return `--- ${name}\n+++ ${name}\n${hunks.map(hunk => hunkText(hunk, old, changed)).join('')}`
}

function hunkText(
  { from, to }: { readonly from: number; readonly to: number },
  old: readonly string[],
  changed: readonly string[],
): string {
  // What follows the last line break is no line.
  const end = to === old.length && old.at(-1) === '' ? to - 1 : to
  const marked = (line: string, i: number) => (i === old.length - 1 ? `${line}\n${NO_NEWLINE}` : line)
  const lines: string[] = []
  for (let i = from; i < end;) {
    if (old[i] === changed[i]) {
      lines.push(marked(` ${old[i]}`, i++))
      continue
    }
    const start = i
    while (i < end && old[i] !== changed[i]) i++
    for (let at = start; at < i; at++) lines.push(marked(`-${old[at]}`, at))
    for (let at = start; at < i; at++) lines.push(marked(`+${changed[at]}`, at))
  }
  const range = `${from + 1},${end - from}`
  return `@@ -${range} +${range} @@\n${lines.join('\n')}\n`
}
