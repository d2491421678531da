/** What tells label sets apart where they themselves are not kept. Two that differ have the same one as likely as a computer errs. */
import type { Labels } from './labels.ts'

/** Characters, each of which is a byte. */
export const PRINT_LENGTH = 12

export function printOf({ names, values }: Labels): string {
  const { hash } = process.getBuiltinModule('node:crypto')
  return hash('sha256', JSON.stringify([names, values]), 'latin1').slice(0, PRINT_LENGTH)
}

/** One text, since there are as many as there are targets. */
export function printsOf(labels: readonly Labels[]): string {
  return labels.map(printOf).join('')
}
