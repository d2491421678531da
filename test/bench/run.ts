/** Runs the benchmarks, each in a process of its own: all, or those that are named (`npm run bench -- plan`). */
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'

const wanted = process.argv.slice(2)
const names = readdirSync(import.meta.dirname)
  .filter(file => file.endsWith('.bench.ts'))
  .map(file => basename(file, '.bench.ts'))
const unknown = wanted.filter(name => !names.includes(name))
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}; there are ${names.join(', ')}`)
  process.exit(2)
}
for (const name of wanted.length > 0 ? wanted : names) {
  console.log(`# ${name}`)
  const { status } = spawnSync(process.execPath, [`${import.meta.dirname}/${name}.bench.ts`], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
