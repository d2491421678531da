import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { parse } from 'yaml'
import { editorSchema } from '../../../pipeline/config/editor-schema.ts'
import { testRegistries } from '../../support/test-registries.ts'

describe('editorSchema', () => {
  const schema = JSON.parse(JSON.stringify(editorSchema(testRegistries))) as { $schema: string }
  const validate = new Ajv({ strict: false }).compile(schema)

  it('is plain draft-07, without formats and keywords of our own', () => {
    assert.equal(schema.$schema, 'http://json-schema.org/draft-07/schema#')
    assert.doesNotMatch(JSON.stringify(schema), /"secret":|"format":/)
  })

  const good = [
    'receivers: { pull: , pull/a: { interval: 1h30m, targets: [a] }, puller: { interval: 0 } }',
    'exporters: { push_http: { endpoint: "https://a", queue: 64MiB, headers: { a: b } } }',
    'exporters: { push_http: { endpoint: "https://a", queue: 1024, encoding: json } }',
    'receivers: { pull: { limit: "${env:N}", targets: "${env:T}", honor_labels: "${env:H:-true}" } }',
    'exporters: { push_http: { endpoint: "${env:E}", encoding: "${env:E}" } }',
    'receivers: "${file:receivers.yaml}"',
    'service: { pipelines: { metrics/a: { receivers: [pull], exporters: [serve] } }, telemetry: { metrics: { address: none } } }',
  ]
  for (const text of good)
    it(`accepts ${text}`, () => {
      validate(parse(text))
      assert.deepEqual(validate.errors, null)
    })

  const bad = [
    'recievers: {}',
    'receivers: { pul: {} }',
    'receivers: { pull: { intervall: 15s } }',
    'receivers: { pull: { interval: 15 } }',
    'receivers: { pull: { interval: soon } }',
    'receivers: { pull: { limit: many } }',
    'exporters: { push_http: {} }',
    'exporters: { push_http: { endpoint: "https://a", encoding: xml } }',
    'exporters: { push_http: { endpoint: a } }',
    'service: { pipelines: { metrics: { recievers: [] } } }',
    '[]',
  ]
  for (const text of bad)
    it(`refuses ${text}`, () => {
      assert.equal(validate(parse(text)), false)
    })

  it('explains every component and every key', () => {
    const { properties } = schema as unknown as {
      properties: Record<
        string,
        {
          patternProperties: Record<
            string,
            { description: string; properties: Record<string, { description?: string }> }
          >
        }
      >
    }
    const [pull] = Object.values(properties['receivers']!.patternProperties)
    assert.equal(pull!.description, 'Pulls.')
    for (const [key, { description }] of Object.entries(pull!.properties)) assert.ok(description, key)
  })
})
