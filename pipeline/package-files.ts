/** Finds the files that are shipped as data (`configs/`), from the sources as well as from `dist`. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The path of a file of this package. Parts go down from the folder that holds `package.json`. */
export function packageFile(...parts: string[]): string {
  return join(packageRoot(), ...parts)
}

function packageRoot(): string {
  let folder = import.meta.dirname
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error(`no package.json in any folder above ${import.meta.dirname}`)
    folder = parent
  }
  return folder
}
