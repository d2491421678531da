import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { chooseFormat } from '../../../exporters/prometheus/negotiation.ts'
import { renderText } from '../../../pipeline/formats/render-text.ts'
import { batchFromText } from '../../support/batch-from-text.ts'

const TEXT_0 = 'text/plain; version=0.0.4; charset=utf-8'
const TEXT_1 = 'text/plain; version=1.0.0; charset=utf-8'
const OM_0 = 'application/openmetrics-text; version=0.0.1; charset=utf-8'
const OM_1 = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,' +
  'text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'
const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'

const CASES: readonly [accept: string | undefined, contentType: string][] = [
  [undefined, TEXT_0],
  ['', TEXT_0],
  ['*/*', TEXT_0],
  ['text/*', TEXT_0],
  ['text/plain', TEXT_0],
  ['text/plain;version=0.0.4', TEXT_0],
  ['TEXT/PLAIN; Version="0.0.4"', TEXT_0],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', TEXT_0],
  [PROMETHEUS_3, `${OM_1}; escaping=allow-utf-8`],
  [PROMETHEUS_2, `${OM_1}; escaping=underscores`],
  ['application/openmetrics-text;version=0.0.1', OM_0],
  ['application/openmetrics-text', OM_1],
  ['application/*', OM_1],
  ['application/openmetrics-text;version=2.0.0, text/plain;version=1.0.0;q=0.1', `${TEXT_1}; escaping=underscores`],
  [
    'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.3',
    TEXT_0,
  ],
  ['text/plain;q=0.2,application/openmetrics-text;version=1.0.0;q=0.9', `${OM_1}; escaping=underscores`],
  ['*/*,application/openmetrics-text;version=0.0.1', OM_0],
  ['text/plain;q=0,*/*', OM_1],
  ['text/plain;version=0.0.4;q=0,text/*', TEXT_1],
  ['*/*;q=0,application/openmetrics-text;version=0.0.1', OM_0],
  ['text/plain;version=1.0.0;escaping=dots', `${TEXT_1}; escaping=dots`],
  ['text/plain;version=1.0.0;escaping=unheard-of', `${TEXT_1}; escaping=underscores`],
  ['text/plain;version=0.0.4;escaping=values', `${TEXT_0}; escaping=values`],
  ['text/plain;version=0.0.4;escaping=allow-utf-8', `${TEXT_0}; escaping=allow-utf-8`],
  ['text/plain;version=0.0.4;escaping=unheard-of', TEXT_0],
  ['application/openmetrics-text;version=0.0.1;escaping=dots', `${OM_0}; escaping=dots`],
  ['application/openmetrics-text;version=1.0.0;charset=utf-8;escaping=values;', `${OM_1}; escaping=values`],
  ['application/openmetrics-text;version=0.0.4', TEXT_0],
  ['image/png', TEXT_0],
  ['text/plain;q=nonsense', TEXT_0],
  [',;,=', TEXT_0],
]

describe('choosing a format', () => {
  for (const [accept, contentType] of CASES) {
    it(`answers ${accept === undefined ? 'no Accept' : `"${accept}"`} with ${contentType}`, () => {
      assert.equal(chooseFormat(accept).contentType, contentType)
    })
  }

  it('passes the cases of client_python', function () {
    const file = resolve('../shared/conformance/client-python-exposition/content-negotiation.json')
    if (!existsSync(file)) {
      process.stdout.write('  skipped: ../shared/conformance is not there\n')
      return this.skip()
    }
    type Case = {
      name: string
      accept: string | null
      content_type: string
      openmetrics_body: boolean
      sample_line: string
    }
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] }
    const batch = batchFromText('# TYPE "dotted.counter_total" counter\n{"dotted.counter_total"} 1\n')
    for (const one of cases) {
      const format = chooseFormat(one.accept ?? undefined)
      const text = renderText([batch], format)
      assert.equal(format.contentType, one.content_type, one.name)
      assert.equal(text.endsWith('# EOF\n'), one.openmetrics_body, one.name)
      assert.ok(text.includes(`\n${one.sample_line.replace(/\.0$/, '')}\n`), one.name)
    }
    assert.equal(cases.length, 11)
  })
})
