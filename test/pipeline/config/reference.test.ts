import assert from 'node:assert/strict'
import { referencePage } from '../../../pipeline/config/reference.ts'
import { testRegistries } from '../../support/test-registries.ts'

describe('referencePage', () => {
  const page = referencePage(testRegistries)

  it('says that it is generated, and by what', () => {
    assert.match(page, /^<!-- Generated .*`npm run generate`/)
  })

  it('has a heading, a summary, older names and an example for each component', () => {
    for (const { type, summary, aliases = [] } of Object.values(testRegistries).flat()) {
      assert.ok(page.includes(`\`${type}\`\n\n${summary}\n`), type)
      for (const alias of aliases) assert.ok(page.includes(`Older names: \`${alias}\`.`), alias)
    }
    assert.ok(page.includes('```yaml\nexporters:\n  push_http:\n    endpoint: https://example.com\n```'))
  })

  const rows = [
    '| `interval` | duration | `"15s"` | Time between two pulls. |',
    '| `limit` | whole number |  | Most samples of one pull. |',
    '| `targets` | list of text | `[]` | What to pull from. |',
    '| `endpoint` | url | required | Where to push to. |',
    '| `token` | text |  | Who we are. Never shown. |',
    '| `encoding` | `proto`, `json` | `"proto"` | How to say it. |',
    '| `rules[].action` | `replace`, `keep`, `drop` | `"replace"` | What to do. |',
    '| `rules[].regex` | text | required | What to look for. |',
    '| `tls.ca_file` | text |',
    '| `source` | text or a list |',
    '| `telemetry.metrics.address` | endpoint or none | `"127.0.0.1:8888"` |',
    '| `pipelines.*.receivers` | list of text |',
  ]
  for (const row of rows)
    it(`has the row ${row}`, () => {
      assert.ok(page.includes(row), page)
    })
})
