import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * Who may import what: imports point one way. A file belongs to the first row whose beginning its path has, and may import its own
 * row and those it names. Where a row names a file, nothing else of that folder may be imported.
 */
const RULES: readonly (readonly [part: string, mayImport: readonly string[]])[] = [
  ['pipeline/model/', []],
  ['pipeline/component.ts', ['pipeline/model/']],
  ['pipeline/series-processor.ts', ['pipeline/model/', 'pipeline/component.ts']],
  ['pipeline/package-files.ts', []],
  ['pipeline/landing.ts', []],
  ['pipeline/formats/', ['pipeline/model/', 'pipeline/landing.ts']],
  ['pipeline/deltas/', ['pipeline/component.ts', 'pipeline/model/']],
  ['pipeline/clock/', ['pipeline/component.ts']],
  ['pipeline/cluster/', ['pipeline/component.ts', 'pipeline/model/']],
  ['pipeline/config/', ['pipeline/component.ts']],
  ['pipeline/relabel/', ['pipeline/component.ts', 'pipeline/model/']],
  ['pipeline/kubernetes/', ['pipeline/component.ts', 'pipeline/model/']],
  [
    'pipeline/catalog/',
    ['pipeline/component.ts', 'pipeline/config/', 'pipeline/cluster/', 'pipeline/model/', 'pipeline/package-files.ts'],
  ],
  ['pipeline/http/', ['pipeline/component.ts', 'pipeline/clock/', 'pipeline/landing.ts']],
  ['pipeline/storage/', ['pipeline/component.ts', 'pipeline/clock/']],
  ['pipeline/server/', ['pipeline/component.ts', 'pipeline/cluster/', 'pipeline/config/fields.ts', 'pipeline/clock/']],
  [
    'pipeline/telemetry/',
    ['pipeline/component.ts', 'pipeline/model/', 'pipeline/config/', 'pipeline/clock/', 'pipeline/server/'],
  ],
  [
    'pipeline/simulator/',
    [
      'pipeline/component.ts',
      'pipeline/model/',
      'pipeline/config/',
      'pipeline/clock/',
      'pipeline/formats/',
      'pipeline/http/',
    ],
  ],
  [
    'pipeline/graph/',
    ['pipeline/component.ts', 'pipeline/model/', 'pipeline/config/', 'pipeline/clock/', 'pipeline/telemetry/'],
  ],
  [
    'pipeline/config-tests/',
    [
      'pipeline/component.ts',
      'pipeline/package-files.ts',
      'pipeline/model/',
      'pipeline/formats/',
      'pipeline/clock/',
      'pipeline/cluster/',
      'pipeline/config/',
      'pipeline/catalog/',
      'pipeline/http/',
      'pipeline/relabel/',
      'pipeline/storage/',
      'pipeline/telemetry/log.ts',
      'pipeline/graph/',
      'pipeline/simulator/',
    ],
  ],
  ['pipeline/migrate/', ['pipeline/model/', 'pipeline/config/', 'pipeline/catalog/', 'pipeline/relabel/']],
  ['pipeline/extensions.ts', ['pipeline/component.ts', 'pipeline/server/', 'pipeline/simulator/']],
  ['pipeline/main.ts', ['pipeline/', 'receivers/registry.ts', 'processors/registry.ts', 'exporters/registry.ts']],
  ['pipeline/commands/', ['pipeline/']],
  // They read catalogs when a config is checked; what one of them sees of the cluster the other reads.
  ...[
    'processors/normalize',
    'processors/join-workload',
    'processors/roll-up',
    'processors/rename',
    'processors/convert-units',
  ].map(
    part =>
      [
        part,
        [
          'pipeline/component.ts',
          'pipeline/series-processor.ts',
          'pipeline/model/',
          'pipeline/catalog/',
          'pipeline/cluster/',
          'pipeline/relabel/',
          'pipeline/config/fields.ts',
        ],
      ] as const,
  ),
  // They tell the model of the cluster how far they have read.
  [
    'receivers/kube-state-metrics.ts',
    ['pipeline/component.ts', 'pipeline/cluster/tables.ts', 'pipeline/relabel/', 'receivers/scraping/'],
  ],
  [
    'receivers/scraping/scrape-receiver.ts',
    ['pipeline/component.ts', 'pipeline/cluster/tables.ts', 'pipeline/relabel/', 'receivers/scraping/'],
  ],
  // It writes the model of the cluster, and says which of the kinds in a catalog it wants to read.
  [
    'receivers/kubernetes-api',
    [
      'pipeline/component.ts',
      'pipeline/catalog/',
      'pipeline/model/',
      'pipeline/kubernetes/',
      'pipeline/cluster/',
      'pipeline/clock/',
      'pipeline/config/fields.ts',
    ],
  ],
  // A vendor's preset is read when a config is checked.
  [
    'exporters/otlp-http',
    [
      'pipeline/component.ts',
      'pipeline/formats/',
      'pipeline/model/',
      'pipeline/deltas/',
      'pipeline/catalog/',
      'pipeline/config/fields.ts',
      'pipeline/http/header-syntax.ts',
      'exporters/delivery/',
    ],
  ],
  ...['receivers/', 'processors/', 'exporters/'].map(
    folder =>
      [
        folder,
        [
          'pipeline/component.ts',
          'pipeline/series-processor.ts',
          'pipeline/formats/',
          'pipeline/model/',
          'pipeline/relabel/',
          'pipeline/kubernetes/',
          'pipeline/deltas/',
          'pipeline/clock/',
          'pipeline/config/fields.ts',
          'pipeline/server/router.ts',
          'pipeline/server/serve.ts',
          'pipeline/http/credentials.ts',
          'pipeline/http/environment-proxy.ts',
          'pipeline/http/failure.ts',
          'pipeline/http/header-syntax.ts',
          'pipeline/http/read-body.ts',
          'pipeline/http/server-security.ts',
        ],
      ] as const,
  ),
]

const files = globSync(['pipeline/**/*.ts', 'receivers/**/*.ts', 'processors/**/*.ts', 'exporters/**/*.ts'], {
  cwd: root,
})

describe('the architecture', () => {
  it('has a rule for every file', () => {
    assert.ok(files.length > 50)
    for (const file of files) assert.ok(ruleOf(file) !== undefined, `${file} belongs to no row of the table`)
  })

  it('has imports that point one way', () => {
    const wrong: string[] = []
    for (const file of files) {
      const [part, mayImport] = ruleOf(file)!
      for (const imported of importsOf(file)) {
        const isMain =
          imported === 'pipeline/main.ts' || /^(receivers|processors|exporters)\/registry\.ts$/.test(imported)
        const allowed = [part, ...mayImport].some(beginning => imported.startsWith(beginning))
        if (!allowed || (isMain && file !== 'pipeline/main.ts')) wrong.push(`${file} imports ${imported}`)
      }
    }
    assert.deepEqual(wrong, [])
  })

  it('has no barrel, no drawer for odds and ends, and no default export', () => {
    const wrong = files.filter(file => /(^|\/)(index|utils?|helpers?|common|types)\.ts$/.test(file))
    wrong.push(...files.filter(file => /^export default /m.test(text(file)) || /^export \* /m.test(text(file))))
    assert.deepEqual(wrong, [])
  })

  it('reaches the network, timers and the wall clock only where that is implemented', () => {
    const allowed: Record<string, RegExp> = {
      'node:(net|tls|http|https|dgram|dns)(/promises)?': /^pipeline\/http\//,
      undici: /^pipeline\/http\//,
    }
    const wrong: string[] = []
    for (const file of files) {
      for (const [module, where] of Object.entries(allowed)) {
        const imports = new RegExp(
          `^(import (?!type).* from\\s*|.*(await import|getBuiltinModule)\\()'(${module})'`,
          'm',
        )
        if (imports.test(text(file)) && !where.test(file)) wrong.push(`${file} imports ${module}`)
      }
      const timers = /\b(setTimeout|setInterval|Date\.now|performance\.now)\(/.exec(text(file))
      if (timers !== null && !/^pipeline\/(clock|http|storage)\//.test(file)) wrong.push(`${file} uses ${timers[1]}`)
    }
    assert.deepEqual(wrong, [])
  })
})

function ruleOf(file: string): (typeof RULES)[number] | undefined {
  return RULES.find(([part]) => file.startsWith(part))
}

function importsOf(file: string): string[] {
  const imports = text(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
  return Array.from(imports, ([, path]) => relative(root, join(root, dirname(file), path!)))
}

function text(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}
