/** Changes of a text by positions, so that everything else stays as it was written. */

/** Puts `text` in the place of what is from `start` up to, not including, `end`. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string }

/** The edits do not overlap. Those at one place come in the order they have in the list. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const sorted = edits.toSorted((a, b) => a.start - b.start || a.end - b.end)
  const parts: string[] = []
  let at = 0
  for (const edit of sorted) {
    if (edit.start < at) throw new Error(`two changes of one place in a text: at ${edit.start} and before ${at}`)
    parts.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  parts.push(text.slice(at))
  return parts.join('')
}
