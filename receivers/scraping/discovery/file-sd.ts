/** Targets from files that somebody else writes and changes. */
import { globSync, readFileSync, statSync } from 'node:fs'
import type { ConfigOf, Host, Problem } from '../../../pipeline/component.ts'
import { duration, parseDuration } from '../../../pipeline/config/fields.ts'
import { keepKnown, type DiscoveredTarget, type Discovery } from './discovery.ts'
import { groupsFromJson, groupsFromYaml } from './target-groups.ts'

export const fileSd = {
  type: 'object',
  properties: {
    files: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      minItems: 1,
      description: 'Files with target groups, ending in .json, .yml or .yaml. The name may have a * in it.',
    },
    refresh_interval: duration('How often files are looked at, which is every 5s if this is longer.', '5m'),
  },
  required: ['files'],
  additionalProperties: false,
  description: 'Targets from files with target groups, as those of Prometheus; read again when they change.',
} as const

const MAX_POLL_MS = 5000
const ENDING = /\.(json|ya?ml)$/i

type KnownFile = { stamp: string; targets: readonly DiscoveredTarget[] }

export function checkFileSd({ files }: ConfigOf<typeof fileSd>): Problem[] {
  return files.flatMap((file, index) =>
    ENDING.test(file) ? [] : [{ path: ['files', index], message: `"${file}" does not end in .json, .yml or .yaml` }],
  )
}

export function createFileDiscovery(
  { files, refresh_interval }: ConfigOf<typeof fileSd>,
  { clock, log }: Pick<Host, 'clock' | 'log'>,
): Discovery {
  const pollMs = Math.min(MAX_POLL_MS, Math.max(1, parseDuration(refresh_interval)))
  const known = new Map<string, KnownFile>()
  let cancel: (() => void) | undefined

  /** Says whether anything changed. */
  function look(): boolean {
    const paths = new Set(files.flatMap(pattern => globSync(pattern)))
    let changed = false
    for (const path of known.keys()) {
      if (paths.has(path)) continue
      known.delete(path)
      log.state(path, 'gone')
      changed = true
    }
    for (const path of paths) if (read(path)) changed = true
    return changed
  }

  /** A file that cannot be read keeps the targets it had: it may be half written. */
  function read(path: string): boolean {
    const file = known.get(path) ?? { stamp: '', targets: [] }
    try {
      const stamp = stampOf(path)
      if (stamp === file.stamp) return false
      known.set(path, { ...file, stamp })
      const text = readFileSync(path, 'utf8')
      const groups = path.toLowerCase().endsWith('.json') ? groupsFromJson : groupsFromYaml
      const targets = keepKnown(file.targets, groups(text, { __meta_filepath: path }))
      known.set(path, { stamp, targets })
      log.state(path, 'ok')
      return targets !== file.targets
    } catch (error) {
      log.state(path, 'failing', `the targets in it cannot be read: ${(error as Error).message}`)
      return false
    }
  }

  return {
    start(update) {
      const all = (): DiscoveredTarget[] => Array.from(known.values(), ({ targets }) => targets).flat()
      const poll = (): void => {
        if (look()) update(all())
        cancel = clock.after(pollMs, poll)
      }
      look()
      if (known.size === 0) log.warn('no file with targets is there yet', { files: files.join(', ') })
      update(all())
      cancel = clock.after(pollMs, poll)
    },
    stop() {
      cancel?.()
      cancel = undefined
    },
  }
}

/** Differs when the file was written, replaced or made readable. */
function stampOf(path: string): string {
  const { mtimeMs, ctimeMs, size, ino } = statSync(path)
  return [mtimeMs, ctimeMs, size, ino].join(' ')
}
