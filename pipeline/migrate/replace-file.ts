/** Puts a new text in the place of a file's, at once or not at all. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

export function replaceFile(path: string, text: string): void {
  // Of a link the file that it leads to.
  const real = realpathSync(path)
  const temporary = `${real}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const file = openSync(temporary, 'wx', statSync(real).mode)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, real)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}
