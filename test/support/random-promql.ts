/** Texts of expressions over the metrics of a vocabulary, in every spelling that comes to mind. */
import fc from 'fast-check'
import type { Vocabulary } from '../../pipeline/migrate/vocabulary.ts'

/** As in Grafana with variables, or as Prometheus takes them. */
export function expressions({ changes }: Vocabulary, dialect: 'grafana' | 'prometheus'): fc.Arbitrary<string> {
  /** Of several texts those that the dialect has. */
  const one = (...texts: string[]) =>
    fc.constantFrom(...texts.filter(text => dialect === 'grafana' || !/\$(?!1)|\[\[/.test(text)))
  const metric = fc.oneof(
    { weight: 5, arbitrary: one(...changes.keys()) },
    { weight: 1, arbitrary: one('foo', 'up', '$metric') },
  )
  const labels = new Set([...changes.values()].flat().flatMap(change => [...change.labels.keys(), ...change.added]))
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
