/**
 * Guesses which parts of a text are secret where the text is no YAML and nobody knows what a line in it means: the names of keys
 * decide. It hides rather too much.
 */
import type { Range } from './mask-line.ts'
import { lineBounds, type Source } from './source.ts'

/** In a text that is no YAML: everything after a secret key in its line, and every value in lines indented below one. */
export function guessSecrets(source: Source, line: number, isSecretKey: (key: string) => boolean): Range[] {
  const { start, end } = lineBounds(source, line)
  const text = source.text.slice(start, end)
  if (!source.hasLines) {
    const equals = text.indexOf('=')
    const isIn = text
      .slice(0, equals)
      .split(/[\s.:]+/)
      .some(isSecretKey)
    return isIn ? [{ start: start + equals + 1, end }] : []
  }
  for (const key of text.matchAll(/([\w.-]+)["']?\s*:/g))
    if (isSecretKey(key[1]!)) return [{ start: start + key.index + key[0].length, end }]
  if (!keysAbove(source, line).some(isSecretKey)) return []
  const value = /^\s*(?:- )?(?:[^\s:]+:\s*)?/.exec(text)![0].length
  return [{ start: start + value, end }]
}

function keysAbove(source: Source, line: number): string[] {
  const keys: string[] = []
  let indent = indentOf(source, line)
  for (let above = line - 1; above > 0 && indent > 0; above--) {
    const { start, end } = lineBounds(source, above)
    const text = source.text.slice(start, end)
    if (text.trim() === '' || indentOf(source, above) >= indent) continue
    indent = indentOf(source, above)
    for (const [, key] of text.matchAll(/([\w.-]+)["']?\s*:/g)) keys.push(key!)
  }
  return keys
}

function indentOf(source: Source, line: number): number {
  const { start, end } = lineBounds(source, line)
  return /^\s*/.exec(source.text.slice(start, end))![0].length
}
