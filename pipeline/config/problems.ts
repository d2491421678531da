/** Turns findings into problems that can be shown: with line and column, in order, each once, without secrets. */
import type { ConfigProblem } from './config-error.ts'
import type { Finding } from './finding.ts'
import type { Secrets } from './secrets.ts'
import { lineAndColumn, lineBounds, type Source } from './source.ts'

const MAX_LINE_LENGTH = 160

/** In the order of the files, and within a file from top to bottom. */
export function problemsFrom(findings: readonly Finding[], secrets: Secrets): ConfigProblem[] {
  const order = new Map<Source, number>()
  for (const { place } of findings) if (!order.has(place.source)) order.set(place.source, order.size)
  const sorted = [...findings].sort(
    (a, b) => order.get(a.place.source)! - order.get(b.place.source)! || a.place.start - b.place.start,
  )
  // An alias or an included file brings one mistake to several places.
  const byText = new Map(sorted.map(finding => problemFrom(finding, secrets)).map(one => [keyOf(one), one]))
  return [...byText.values()]
}

function keyOf({ file, line, column, message }: ConfigProblem): string {
  return [file, line, column, message].join('\n')
}

function problemFrom({ place, message, suggestion, severity = 'error' }: Finding, secrets: Secrets): ConfigProblem {
  const { source, start } = place
  const { line, column } = lineAndColumn(source, start)
  const excerpt = source.text === '' ? undefined : excerptOf(place, line, secrets)
  return {
    file: source.name,
    ...(source.hasLines && { line, column }),
    message: secrets.maskMessage(message),
    ...(suggestion !== undefined && { suggestion }),
    severity,
    ...(excerpt !== undefined && { excerpt }),
  }
}

function excerptOf({ source, start, end }: Finding['place'], line: number, secrets: Secrets): ConfigProblem['excerpt'] {
  const masked = secrets.maskLine(source, line)
  const column = masked.columnOf(start)
  const length = Math.max(1, masked.columnOf(Math.min(end, lineBounds(source, line).end)) - column)
  if (masked.text.length <= MAX_LINE_LENGTH) return { line: masked.text, column, length }
  const from = Math.max(0, column - 1 - MAX_LINE_LENGTH / 2)
  const shown = masked.text.slice(from, from + MAX_LINE_LENGTH)
  const before = from > 0 ? '…' : ''
  const after = from + MAX_LINE_LENGTH < masked.text.length ? '…' : ''
  const newColumn = column - from + before.length
  return { line: before + shown + after, column: newColumn, length: Math.min(length, shown.length - newColumn + 2) }
}
