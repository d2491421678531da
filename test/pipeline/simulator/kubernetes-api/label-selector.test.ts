import assert from 'node:assert/strict'
import { parseLabelSelector } from '../../../../pipeline/simulator/kubernetes-api/label-selector.ts'

const LABELS = {
  none: {},
  serving: { app: 'serving' },
  a: { app: 'x', i: 'a' },
  b: { app: 'x', i: 'b', n: '3' },
}

/** Every answer was given by kube-apiserver 1.36.3 too. */
describe('a label selector', () => {
  const selections: [selector: string, selected: string][] = [
    ['', 'none serving a b'],
    ['app=x', 'a b'],
    ['app==x', 'a b'],
    [' app = x ', 'a b'],
    ['app=', ''],
    ['app!=x', 'none serving'],
    ['nope!=x', 'none serving a b'],
    ['app in (x,y)', 'a b'],
    ['app in(x)', 'a b'],
    ['app in (x,)', 'a b'],
    ['app in ()', ''],
    ['app notin (x)', 'none serving'],
    ['app in (x,y),i in (a,b)', 'a b'],
    ['app', 'serving a b'],
    ['!app', 'none'],
    ['! app', 'none'],
    ['app,i=a', 'a'],
    ['in', ''],
    ['notin notin (notin)', 'none serving a b'],
    ['n>2', 'b'],
    ['n<3', ''],
    ['i>1', ''],
  ]
  for (const [selector, selected] of selections) {
    it(`"${selector}" selects ${selected || 'nothing'}`, () => {
      const { matches, isEmpty } = parseLabelSelector(selector)
      const names = Object.entries(LABELS).filter(([, labels]) => matches(labels))
      assert.equal(names.map(([name]) => name).join(' '), selected)
      assert.equal(isEmpty, selector === '')
    })
  }

  it('selects what has no labels as what has none of them', () => {
    assert.equal(parseLabelSelector('!app').matches(undefined), true)
    assert.equal(parseLabelSelector('app').matches(undefined), false)
  })

  it('does not find labels that are only properties of every object', () => {
    assert.equal(parseLabelSelector('constructor').matches({}), false)
    assert.equal(parseLabelSelector('constructor!=x').matches({}), true)
  })

  const mistakes: [selector: string, message: string][] = [
    ['app in x', `unable to parse requirement: found 'x' expected: '('`],
    ['app in (x', `unable to parse requirement: found '', expected: ',' or ')'`],
    ['app in (=)', `unable to parse requirement: found '=', expected: ',', ')' or identifier`],
    ['app=x,', `found '', expected: identifier after ','`],
    ['app,,i', `found ',', expected: identifier after ','`],
    [',', `found ',', expected: !, identifier, or 'end of string'`],
    ['=x', `found '=', expected: !, identifier, or 'end of string'`],
    ['(', `found '(', expected: !, identifier, or 'end of string'`],
    ['app=x=y', `found '=', expected: ',' or 'end of string'`],
    ['!app=x', `found '=', expected: ',' or 'end of string'`],
    ['app===x', `unable to parse requirement: found '=', expected: identifier`],
    ['a b', `unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt`],
    ['i gt 1', `unable to parse requirement: found 'gt', expected: in, notin, =, ==, !=, gt, lt`],
    ['!', `unable to parse requirement: found '', expected: identifier`],
    [
      'i>a',
      `unable to parse requirement: values[0]: Invalid value: "a": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
    ['app=-x', 'unable to parse requirement: values[0][app]: Invalid value: "-x": not a valid label value'],
    [
      `app=${'a'.repeat(64)}`,
      `unable to parse requirement: values[0][app]: Invalid value: "${'a'.repeat(64)}": not a valid label value`,
    ],
    ['a/b/c=x', 'unable to parse requirement: <nil>: Invalid value: "a/b/c": not a valid label key'],
  ]
  for (const [selector, message] of mistakes) {
    it(`"${selector}" is refused`, () => assert.throws(() => parseLabelSelector(selector), { message }))
  }
})
