/** Files that somebody replaces while we run: certificates, passwords. */
import { readFileSync, statSync } from 'node:fs'

/** Gives the text of the file, read again whenever the file is another one. Throws an Error that names it if it cannot be read. */
export function readWhenReplaced(path: string): () => string {
  let known: { readonly version: string; readonly text: string } | undefined
  return () => {
    try {
      const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
      const version = `${ino} ${size} ${mtimeNs} ${ctimeNs}`
      if (known?.version !== version) known = { version, text: readFileSync(path, 'utf8') }
      return known.text
    } catch (cause) {
      throw new Error(`cannot read "${path}": ${(cause as Error).message}`, { cause })
    }
  }
}
