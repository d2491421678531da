/** Given to Node by `--import`: writes the modules that were loaded, one per line, into the file that LOADED_MODULES names, at the end. */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const urls: string[] = []
registerHooks({
  load(url, context, next) {
    urls.push(url)
    return next(url, context)
  },
})
process.on('exit', () => {
  // Node's own, also those that no import names.
  const own = process as unknown as { readonly moduleLoadList: readonly string[] }
  const builtIn = own.moduleLoadList.flatMap(name => /^NativeModule (.*)$/.exec(name)?.[1] ?? [])
  writeFileSync(process.env['LOADED_MODULES']!, [...urls, ...builtIn.map(name => `built in ${name}`)].join('\n'))
})
