/**
 * Replacement templates as Go's regexp package expands them:
 *
 *   $name, $1     the longest run of letters, digits and underscores is the name: `$1x` is the group called `1x`
 *   ${name}, ${1} the same with its end marked
 *   $$            a dollar
 *
 * A dollar that begins none of these stands for itself.
 */
import type { Groups } from './regex.ts'

export type Template = {
  /** Without any reference to a group. */
  readonly isConstant: boolean
  expand(groups: Groups): string
}

type Part = string | { readonly group: string }

const REFERENCE = /\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu

export function parseTemplate(text: string): Template {
  const parts: Part[] = []
  let end = 0
  for (const found of text.matchAll(REFERENCE)) {
    parts.push(text.slice(end, found.index))
    const name = found[1] ?? found[2]
    parts.push(name === undefined ? '$' : { group: name })
    end = found.index + found[0].length
  }
  parts.push(text.slice(end))
  return {
    isConstant: parts.every(part => typeof part === 'string'),
    expand: groups => parts.map(part => (typeof part === 'string' ? part : groupText(part.group, groups))).join(''),
  }
}

/** A number is one without leading zeros; everything else is a name. */
function groupText(name: string, groups: Groups): string {
  return /^(0|[1-9][0-9]{0,7})$/.test(name) ? groups.byNumber(Number(name)) : groups.byName(name)
}
