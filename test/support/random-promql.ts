/**
 * Texts of expressions over the metrics of a vocabulary, in every spelling that comes to mind. With `mixed` some names, labels and factors
 * are those of the new vocabulary, as in a file that is half migrated.
 */
import fc from 'fast-check'
import { ONE } from '../../pipeline/model/scale.ts'
import type { Vocabulary } from '../../pipeline/migrate/vocabulary.ts'

/** As in Grafana with variables, or as Prometheus takes them. */
export function expressions(
  { changes }: Vocabulary,
  dialect: 'grafana' | 'prometheus',
  generations: 'old' | 'mixed' = 'old',
): fc.Arbitrary<string> {
  const all = [...changes.values()].flat()
  const later = generations === 'old' ? [] : all
  const laterNames = later.flatMap(({ to }) => to ?? [])
  /** Of several texts those that the dialect has. */
  const one = (...texts: string[]) =>
    fc.constantFrom(...texts.filter(text => dialect === 'grafana' || !/\$(?!1)|\[\[/.test(text)))
  const metric = fc.oneof(
    { weight: 5, arbitrary: one(...changes.keys()) },
    { weight: 1, arbitrary: one('foo', 'up', '$metric', ...laterNames) },
  )
  const labels = new Set([
    ...all.flatMap(change => [...change.labels.keys(), ...change.added]),
    ...later.flatMap(change => [...change.labels.values()].flatMap(({ to }) => to ?? [])),
  ])
  const scaled = all.filter(({ scale }) => scale !== ONE)
  /** A metric whose unit changes, with the factor of either generation beside it. */
  const scaledMetric = fc
    .tuple(fc.constantFrom(...(scaled.length > 0 ? scaled : all)), fc.boolean(), fc.boolean())
    .map(([{ name, to = name, scale }, isLater, isInverse]) => {
      const [times, by] = isInverse ? [scale.divide, scale.multiply] : [scale.multiply, scale.divide]
      const factor = times === 1 ? ` / ${by}` : ` * ${times}`
      return `${isLater && generations === 'mixed' ? to : name}${factor}`
    })
  /** Matchers that a name of either generation implies. */
  const implied = all.flatMap(({ name, to = name, fixed, match }) => {
    const [label] = [fixed, match].filter(one => Object.keys(one).length > 0)
    const text = Object.entries(label ?? {}).map(([key, value]) => `${key}="${value}"`)
    const names = generations === 'old' ? [name] : [name, to]
    return text.length === 0
      ? []
      : names.flatMap(one => [`${one}{${text.join(', ')}}`, `${one}{node="a", ${text.join(', ')}}`])
  })
  const label = fc.oneof(one('node', 'gpu', 'clusterId', '$label'), one('node', ...labels))
  const blank = one('', ' ', ' ', '\n  ', ' # note "\n')
  const value = one('""', '"a"', "'.+'", '"$var"', '`x`', '"${v:regex}"', '"\\"}("')
  const matcher = fc.tuple(label, one('=', '=~', '!=', '!~'), value, blank).map(([l, op, v, b]) => `${l}${b}${op}${v}`)
  const matchers = fc.oneof(
    fc.constant(''),
    fc.array(matcher, { maxLength: 3 }).map(list => `{${list.join(', ')}}`),
    fc.array(matcher, { maxLength: 3 }).map(list => `{ ${list.join(' ,')} }`),
  )
  const range = one('[5m]', '[$__rate_interval]', '[ 1h ]', '[${__range}]', '[[[i]]]')
  const modifier = one('', '', ' offset 5m', ' @ end()', ' offset -$back', ' @ 1.5 offset 1d')
  const selector = fc.tuple(metric, matchers).map(parts => parts.join(''))
  const grouping = fc
    .tuple(one('by', 'without'), fc.array(label, { maxLength: 2 }))
    .map(([word, list]) => ` ${word} (${list.join(', ')}) `)
  const number = one('0', '5', '29', '0.5', '1e3', '1048576', '1000000', '100', '$limit', '90.0')
  const { expression } = fc.letrec<{ expression: string }>(tie => {
    const inner = tie('expression')
    return {
      expression: fc.oneof(
        { maxDepth: 4 },
        fc.tuple(selector, modifier).map(parts => parts.join('')),
        scaledMetric,
        one(...(implied.length > 0 ? implied : ['foo'])),
        fc
          .tuple(
            one('rate', 'avg_over_time', 'changes', 'max_over_time', 'stdvar_over_time'),
            selector,
            range,
            modifier,
          )
          .map(([name, s, r, m]) => `${name}(${s}${r}${m})`),
        fc
          .tuple(inner, number, one('*', '/', '+', '>', '<=', '==', '> bool', '^', '%'))
          .map(([e, n, op]) => `${e} ${op} ${n}`),
        fc.tuple(inner, number, one('*', ' * ', ' / ', ' < ')).map(([e, n, op]) => `${n}${op}${e}`),
        fc
          .tuple(
            inner,
            inner,
            one(
              '+',
              '/',
              'and',
              'or',
              'unless',
              '>',
              '* on (node)',
              '/ ignoring(gpu)',
              '* on(node) group_left(gpu)',
              '* on (node) group_left',
            ),
          )
          .map(([a, b, op]) => `${a} ${op} ${b}`),
        fc
          .tuple(one('sum', 'max', 'count', 'avg', 'stddev'), grouping, inner, blank)
          .map(([name, g, e, b]) => `${name}${g}(${b}${e}${b})`),
        fc
          .tuple(one('sum', 'topk($k,', 'quantile(0.9,'), inner, grouping)
          .map(([name, e, g]) => (name.includes('(') ? `${name} ${e})` : `${name}(${e})${g}`)),
        fc
          .tuple(one('abs', 'sort_desc', 'absent', 'timestamp', 'floor', 'scalar', '$f'), inner)
          .map(([name, e]) => `${name}(${e})`),
        inner.map(e => `(${e})`),
        inner.map(e => `( ${e} )`),
        inner.map(e => `-${e}`),
        inner.map(e => `max_over_time((${e})[1h:5m])`),
        fc.tuple(inner, label, label).map(([e, a, b]) => `label_replace(${e}, "${a}", "$1", "${b}", "(.*)")`),
      ),
    }
  })
  return expression
}
