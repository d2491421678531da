/**
 * Lets the C library keep little memory beyond what is in use.
 *
 * By itself glibc gives threads that allocate at the same time arenas of their own, up to eight for a processor, and memory that was freed
 * in one is not used by another: 20 to 50 MB of a collector's memory, another amount each time.
 *
 * Nor does it give back what was freed below something that is still there. It learns from each large piece that is freed to take as large
 * ones from there, too, up to 32 MB, so that what a collector needs once, while it learns targets, is kept for ever. Where pieces of some
 * size are always mapped by themselves, they are given back by themselves: a third of the memory of all arrays. They are filled once in
 * seconds, so fetching their pages anew takes less than a hundredth of that.
 *
 * The variables that say all this are read before the first line of this program runs, so the process begins again with them, in its place
 * and with its number.
 */
const VARIABLES: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: String(64 * 1024),
  // At the end of the arena some may stay: it would be asked for again at once.
  MALLOC_TRIM_THRESHOLD_: String(512 * 1024),
}

export function beginFrugalMalloc(): void {
  const { execve, execPath, execArgv, argv, env, platform } = process
  const missing = Object.entries(VARIABLES).filter(([name]) => env[name] === undefined)
  // Whoever has set one knows why. A parent that talks to this process would lose it.
  if (platform !== 'linux' || missing.length === 0 || env['NODE_CHANNEL_FD'] !== undefined) return
  if (process.send !== undefined || execve === undefined) return
  try {
    execve.call(process, execPath, [execPath, ...execArgv, ...argv.slice(1)], {
      ...env,
      ...Object.fromEntries(missing),
    })
  } catch {
    // Where this is not allowed everything works as well, with more memory.
  }
}
