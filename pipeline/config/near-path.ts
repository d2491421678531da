/** Paths of files that stand beside a config. */
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { Place } from './source.ts'

/**
 * A path as whoever opens it needs it. It starts at the current directory, as paths do in the OpenTelemetry Collector; where nothing is
 * there, at the file that names it, so that a config and its own catalogs can be moved together.
 */
export function nearPath(text: string, { source }: Place): string {
  if (source.path === undefined || isAbsolute(text) || existsSync(text)) return text
  const near = join(dirname(source.path), text)
  return existsSync(near) ? near : text
}
