/** Files that were full: how they are called, and which of them have to go. */
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'

export type RotationOptions = {
  /** A file that is larger is put aside. */
  readonly maxBytes: number
  /** A file that is older is put aside. */
  readonly intervalMs: number
  readonly maxBackups: number
  /** Files that were put aside longer ago are deleted. */
  readonly maxAgeMs: number
}

/** `metrics.json` becomes `metrics-2023-11-14T22-13-20.000Z.json`: no colons, which some file systems do not take. */
export function backupPath(path: string, timeMs: number): string {
  const extension = extname(path)
  return `${path.slice(0, path.length - extension.length)}-${new Date(timeMs).toISOString().replaceAll(':', '-')}${extension}`
}

/** Deletes what there is too much of, oldest first. Other files in the directory are left alone. */
export async function removeBackups(path: string, options: RotationOptions, nowMs: number): Promise<void> {
  const backups = await backupsOf(path)
  const tooMany = Math.max(0, backups.length - options.maxBackups)
  for (const [i, { file, timeMs }] of backups.entries()) {
    if (i < tooMany || nowMs - timeMs > options.maxAgeMs) await rm(join(dirname(path), file), { force: true })
  }
}

async function backupsOf(path: string): Promise<{ file: string; timeMs: number }[]> {
  const extension = extname(path)
  const beginning = `${basename(path, extension)}-`
  const backups: { file: string; timeMs: number }[] = []
  for (const file of await readdir(dirname(path))) {
    if (!file.startsWith(beginning) || !file.endsWith(extension)) continue
    const text = file.slice(beginning.length, file.length - extension.length)
    const [, day, hour, minute, second] = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3})Z$/.exec(text) ?? []
    if (day !== undefined) backups.push({ file, timeMs: Date.parse(`${day}T${hour}:${minute}:${second}Z`) })
  }
  return backups.sort((a, b) => a.timeMs - b.timeMs)
}
