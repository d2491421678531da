import assert from 'node:assert/strict'
import { mergeRules } from '../../../pipeline/commands/rbac-manifest.ts'
import type { RbacRule } from '../../../pipeline/component.ts'

/** Each is `receiver: verb+verb resource+resource`, then `in namespace+namespace` where it is not everywhere. */
function rulesFrom(texts: readonly string[]): Map<string, RbacRule[]> {
  const rules = new Map<string, RbacRule[]>()
  for (const text of texts) {
    const [, id, verbs, resources, namespaces] = /^(\w+): (\S+) (\S+)(?: in (\S+))?$/.exec(text)!
    const rule = { group: '', resources: resources!.split('+'), verbs: verbs!.split('+'), why: 'test' }
    const placed = namespaces === undefined ? rule : { ...rule, namespaces: namespaces.split('+') }
    rules.set(id!, [...(rules.get(id!) ?? []), placed])
  }
  return rules
}

describe('mergeRules', () => {
  for (const [title, rules, merged] of [
    ['keeps what differs', ['a: list pods', 'a: list nodes'], ['a: list pods', 'a: list nodes']],
    ['says once what is the same', ['a: list pods', 'b: list pods'], ['a, b: list pods']],
    ['knows fewer verbs', ['a: get+list pods', 'b: list pods'], ['a, b: get+list pods']],
    ['knows more verbs', ['a: list pods', 'b: get+list pods'], ['b, a: get+list pods']],
    ['knows fewer resources', ['a: list pods+nodes', 'b: list nodes'], ['a, b: list pods+nodes']],
    ['keeps what only overlaps', ['a: get pods', 'b: list pods'], ['a: get pods', 'b: list pods']],
    ['drops what is allowed everywhere', ['a: list pods in x', 'b: list pods'], ['b, a: list pods']],
    ['knows fewer namespaces', ['a: list pods in x', 'b: list pods in x+y'], ['b, a: list pods in x+y']],
    ['keeps other namespaces', ['a: list pods in x', 'b: list pods in y'], ['a: list pods in x', 'b: list pods in y']],
    ['takes in several', ['a: list pods in x', 'b: get pods', 'c: get+list pods'], ['c, a, b: get+list pods']],
  ] as const) {
    it(title, () => {
      const texts = mergeRules(rulesFrom(rules)).map(({ by, verbs, resources, namespaces }) => {
        const place = namespaces === undefined ? '' : ` in ${namespaces.join('+')}`
        return `${by.join(', ')}: ${verbs.join('+')} ${resources.join('+')}${place}`
      })
      assert.deepEqual(texts, merged)
    })
  }
})
