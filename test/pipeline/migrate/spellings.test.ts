/** However a text is written in YAML or JSON, what it says is rewritten as if it stood by itself, and nothing else changes. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Document, isMap, isScalar, parse } from 'yaml'
import { applyEdits } from '../../../pipeline/migrate/edits.ts'
import { readContent } from '../../../pipeline/migrate/input-file.ts'
import { migrateFiles } from '../../../pipeline/migrate/migrate-files.ts'
import { rewriteExpression } from '../../../pipeline/migrate/rewrite-expression.ts'
import { expressions } from '../../support/random-promql.ts'
import { vocabularyBetween } from '../../support/vocabularies.ts'

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 200)
const SPELLINGS = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const

type Rules = { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }

describe('migrating texts in every spelling', function () {
  this.timeout(60_000)

  for (const [from, to] of [
    ['dcgm-exporter-4.8', 'dcgm-exporter-4.9'],
    ['kube-state-metrics-1', 'kube-state-metrics-2'],
  ] as const) {
    it(`rewrites what they say, from ${from} to ${to}`, () => {
      const vocabulary = vocabularyBetween(from, to)
      const around = { vocabulary, recorded: new Map(), translatedVariables: new Map() }
      const rule = fc.record({
        expr: expressions(vocabulary, 'prometheus'),
        spelling: fc.constantFrom(...SPELLINGS),
        isInBrackets: fc.boolean(),
        hasLines: fc.boolean(),
      })
      const file = fc.record({
        rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
        lineWidth: fc.constantFrom(0, 20, 40, 80),
        lineBreak: fc.constantFrom('\n', '\r\n'),
        isJson: fc.boolean(),
      })
      fc.assert(
        fc.property(file, ({ rules, lineWidth, lineBreak, isJson }) => {
          const text = isJson
            ? JSON.stringify({ rules: rules.map(({ expr }) => ({ alert: 'a', expr })) }, undefined, 2)
            : yamlText(rules, lineWidth).replaceAll('\n', lineBreak)
          const before = parse(text) as Rules
          const [migrated] = migrateFiles([readContent(isJson ? 'a.json' : 'a.yaml', text)], { vocabulary })
          assert.ok(!migrated!.findings.some(({ message }) => message.includes('damage')), text)
          const wanted = before.rules.map(({ alert, expr }, i) => {
            const isLeft = migrated!.findings.some(({ message }) => message.includes('in quotes it might'))
            const found = (parse(migrated!.text) as Rules).rules[i]!.expr
            if (isLeft && found === expr) return { alert, expr }
            return { alert, expr: applyEdits(expr, rewriteExpression(expr, around).edits) }
          })
          assert.deepEqual((parse(migrated!.text) as Rules).rules, wanted)
        }),
        { numRuns: RUNS },
      )
    })
  }
})

type Spelled = {
  readonly expr: string
  readonly spelling: (typeof SPELLINGS)[number]
  readonly isInBrackets: boolean
  readonly hasLines: boolean
}

function yamlText(rules: readonly Spelled[], lineWidth: number): string {
  const lines = (expr: string) => expr.replace(/ /g, (blank, at: number) => (at % 3 === 0 ? '\n  ' : blank))
  const document = new Document({
    rules: rules.map(({ expr, hasLines }) => ({ alert: 'a', expr: hasLines ? lines(expr) : expr })),
  })
  for (const [i, { spelling, isInBrackets }] of rules.entries()) {
    const map = document.getIn(['rules', i])
    const text = document.getIn(['rules', i, 'expr'], true)
    if (isMap(map)) map.flow = isInBrackets
    if (isScalar(text)) text.type = spelling
  }
  return document.toString({ lineWidth })
}
