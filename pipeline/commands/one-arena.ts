/**
 * Lets the C library keep all memory in one place.
 *
 * By itself glibc gives threads that allocate at the same time arenas of their own, up to eight for a processor, and memory that was freed
 * in one is not used by another: 20 to 50 MB of a collector's memory, another amount each time. The variable that says how many there are
 * is read before the first line of this program runs, so the process begins again with it, in its place and with its number.
 */
const VARIABLE = 'MALLOC_ARENA_MAX'

export function keepOneArena(): void {
  const { execve, execPath, execArgv, argv, env, platform } = process
  // Whoever has set it knows why. A parent that talks to this process would lose it.
  if (platform !== 'linux' || env[VARIABLE] !== undefined || env['NODE_CHANNEL_FD'] !== undefined) return
  if (process.send !== undefined || execve === undefined) return
  try {
    execve.call(process, execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [VARIABLE]: '1' })
  } catch {
    // Where this is not allowed everything works as well, with more memory.
  }
}
