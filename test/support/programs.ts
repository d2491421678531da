/** Programs that a suite uses besides Node. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The path of a program. Where it is missing the suite is skipped with one line that says so; in CI, where everything is
 * installed, it fails instead.
 */
export function programOrSkip(context: Mocha.Context, name: string): string {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this folder.
    }
  }
  const message = `${name} is not on this machine`
  if (process.env['CI'] === 'true') throw new Error(message)
  process.stdout.write(`  skipped: ${message}\n`)
  return context.skip()
}
