import assert from 'node:assert/strict'
import { labelPairs } from '../../../pipeline/model/labels.ts'
import { compileRelabel } from '../../../pipeline/relabel/relabel.ts'
import type { RelabelRule } from '../../../pipeline/relabel/rule.ts'
import {
  isSameTarget,
  specFrom,
  type TargetDefaults,
  type TargetSpec,
} from '../../../receivers/scraping/target-spec.ts'
import { withUsualParts } from '../../../receivers/scraping/target-address.ts'

type Row = Readonly<Record<string, string>>

function defaultsWith(changes: Partial<TargetDefaults> = {}, rules: readonly RelabelRule[] = []): TargetDefaults {
  return {
    job: 'some',
    scheme: 'http',
    metricsPath: '/metrics',
    interval: '1m',
    timeout: '10s',
    params: {},
    labels: {},
    relabel: compileRelabel(rules),
    spellsPort: false,
    isOfNode: true,
    ...changes,
  }
}

function specOf(labels: Row, defaults = defaultsWith()) {
  const found = specFrom({ labels: new Map(Object.entries(labels)) }, defaults)
  if (!('url' in found)) return { reason: found.reason, before: Object.fromEntries(labelPairs(found.labels)) }
  const { url, labels: own, ...rest } = found
  return { ...rest, url, labels: Object.fromEntries(labelPairs(own)) }
}

function goodSpec(labels: Row, defaults = defaultsWith()): TargetSpec {
  const found = specFrom({ labels: new Map(Object.entries(labels)) }, defaults)
  assert.ok('url' in found)
  return found
}

describe('a target from labels', () => {
  const cases: { what: string; labels: Row; defaults?: TargetDefaults; url: string; own: Row }[] = [
    {
      what: 'has what is usual',
      labels: { __address__: '1.2.3.4:1000' },
      url: 'http://1.2.3.4:1000/metrics',
      own: { instance: '1.2.3.4:1000', job: 'some' },
    },
    {
      what: 'says itself how it is scraped',
      labels: { __address__: 'a:1', __scheme__: 'https', __metrics_path__: '/custom', job: 'mine', instance: 'me' },
      url: 'https://a:1/custom',
      own: { instance: 'me', job: 'mine' },
    },
    {
      what: 'keeps its own labels and loses those of discovery',
      labels: { __address__: 'a:1', __meta_x: '1', __other: '2', rack: 'b' },
      url: 'http://a:1/metrics',
      own: { instance: 'a:1', job: 'some', rack: 'b' },
    },
    {
      what: 'gets no port',
      labels: { __address__: 'a' },
      url: 'http://a/metrics',
      own: { instance: 'a', job: 'some' },
    },
    {
      what: 'has its port in the instance where that is wanted',
      labels: { __address__: 'a', __scheme__: 'https' },
      defaults: defaultsWith({ spellsPort: true }),
      url: 'https://a/metrics',
      own: { instance: 'a:443', job: 'some' },
    },
    {
      what: 'has parameters, the first value by label',
      labels: { __address__: 'a:1', __param_x: '1', __param_y: '2' },
      defaults: defaultsWith({ params: { x: ['0', '5'], z: ['3 4'] } }),
      url: 'http://a:1/metrics?x=1&x=5&y=2&z=3+4',
      own: { instance: 'a:1', job: 'some' },
    },
    {
      what: 'can be made another by rules',
      labels: { __address__: 'a:1', __meta_port: '9100' },
      defaults: defaultsWith({ labels: { cluster: 'c' } }, [
        {
          source_labels: ['__address__', '__meta_port'],
          regex: '(.*):.*;(.*)',
          target_label: '__address__',
          replacement: '$1:$2',
        },
        { target_label: '__param_q', replacement: 'v' },
        { source_labels: ['__meta_port'], target_label: 'port' },
        { regex: 'cluster', action: 'labeldrop' },
      ]),
      url: 'http://a:9100/metrics?q=v',
      own: { instance: 'a:9100', job: 'some', port: '9100' },
    },
    {
      what: 'has a path in which nothing has a meaning of its own',
      labels: { __address__: 'a:1', __metrics_path__: 'x?y#z' },
      url: 'http://a:1/x%3Fy%23z',
      own: { instance: 'a:1', job: 'some' },
    },
    {
      what: 'may be an address of version 6',
      labels: { __address__: '[::1]:9400' },
      url: 'http://[::1]:9400/metrics',
      own: { instance: '[::1]:9400', job: 'some' },
    },
  ]
  for (const { what, labels, defaults, url, own } of cases) {
    it(what, () => {
      const spec = specOf(labels, defaults) as { url: string; labels: Row }
      assert.deepEqual({ url: spec.url, labels: spec.labels }, { url, labels: own })
    })
  }

  const rejected: [what: string, labels: Row, rules: readonly RelabelRule[], reason: RegExp][] = [
    ['rules drop it', {}, [{ source_labels: ['job'], regex: 'some', action: 'drop' }], /^relabel_configs drop it$/],
    ['it has no address', { __address__: '' }, [], /^it has no address$/],
    ['its address is a URL', { __address__: 'http://a:1' }, [], /^"http:\/\/a:1" is not a valid address/],
    ['its address has a user', { __address__: 'u:p@a' }, [], /not a valid address/],
    ['its address is none', { __address__: 'a:b:c' }, [], /^"a:b:c" is not a valid address/],
    ['its scheme is another', { __scheme__: 'ftp' }, [], /^"ftp" is neither http nor https$/],
    [
      'its interval is none',
      { __scrape_interval__: 'often' },
      [],
      /^bad __scrape_interval__: "often" is not a duration/,
    ],
    ['its interval is nothing', { __scrape_interval__: '0' }, [], /^bad __scrape_interval__: it must be above 0$/],
    [
      'its timeout is none',
      { __scrape_timeout__: '' },
      [{ target_label: '__scrape_timeout__', replacement: '' }],
      /^bad __scrape_timeout__/,
    ],
    [
      'its timeout is longer than its interval',
      { __scrape_interval__: '5s' },
      [],
      /^__scrape_timeout__ 10s is longer than the interval 5s$/,
    ],
    ['a label is no text', { x: '\ud800' }, [], /^the value of label "x" is not UTF-8$/],
  ]
  for (const [what, labels, rules, reason] of rejected) {
    it(`is dropped because ${what}`, () => {
      const found = specOf({ __address__: 'a:1', ...labels }, defaultsWith({}, rules)) as {
        reason: string
        before: Row
      }
      assert.match(found.reason, reason)
      assert.equal(found.before['__metrics_path__'], '/metrics')
      assert.equal(found.before['job'], 'some')
    })
  }

  it('has an interval and a timeout of its own', () => {
    const spec = goodSpec({ __address__: 'a:1', __scrape_interval__: '5s', __scrape_timeout__: '500ms' })
    assert.deepEqual([spec.intervalMs, spec.timeoutMs], [5000, 500])
  })

  const nodes: [labels: Row, node: string | undefined][] = [
    [{}, undefined],
    [{ __meta_kubernetes_pod_node_name: 'n1' }, 'n1'],
    [{ __meta_kubernetes_node_name: 'n2' }, 'n2'],
    [{ __meta_kubernetes_endpointslice_endpoint_node_name: 'n3', node: '' }, 'n3'],
    [{ __meta_kubernetes_pod_node_name: 'n1', node: 'mine' }, 'mine'],
  ]
  for (const [labels, node] of nodes) {
    it(`is on node ${node} where labels are ${JSON.stringify(labels)}`, () => {
      assert.equal(goodSpec({ __address__: 'a:1', ...labels }).node, node)
    })
  }

  it('is on no node where what it says is about all of them', () => {
    const defaults = defaultsWith({ isOfNode: false })
    assert.equal(goodSpec({ __address__: 'a:1', node: 'n' }, defaults).node, undefined)
  })

  it('is the same exactly if URL, labels, times and node are', () => {
    const spec = (labels: Row): TargetSpec => goodSpec({ __address__: 'a:1', ...labels })
    assert.ok(isSameTarget(spec({ __meta_a: '1' }), spec({ __meta_b: '2' })))
    const others = [
      {},
      { x: '1' },
      { __scheme__: 'https' },
      { __scrape_interval__: '2m' },
      { __scrape_timeout__: '2s' },
      { __param_a: '1' },
      { __meta_kubernetes_node_name: 'n1' },
    ].map(spec)
    for (const a of others) for (const b of others) assert.equal(isSameTarget(a, b), a === b)
  })
})

describe('a target as people write it', () => {
  const urls = { scheme: 'https', port: 10_250, path: '/metrics/resource' } as const
  const cases: [address: string, labels: Row][] = [
    ['node-a', { __address__: 'node-a:10250' }],
    ['node-a:99', { __address__: 'node-a:99' }],
    ['node-a/x', { __address__: 'node-a:10250', __metrics_path__: '/x' }],
    ['http://node-a', { __address__: 'node-a:80', __scheme__: 'http' }],
    ['http://node-a:1/', { __address__: 'node-a:1', __scheme__: 'http', __metrics_path__: '/' }],
    ['https://a/b?c=1&c=2', { __address__: 'a:443', __scheme__: 'https', __metrics_path__: '/b', __param_c: '1' }],
    ['no host', { __address__: 'no host' }],
  ]
  for (const [address, labels] of cases) {
    it(`${address} is ${JSON.stringify(labels)}`, () => {
      const target = withUsualParts({ labels: new Map([['__address__', address]]) }, urls)
      assert.deepEqual(Object.fromEntries(target.labels), labels)
    })
  }

  it('leaves alone what labels say', () => {
    const labels = new Map([
      ['__address__', 'http://a/b'],
      ['__scheme__', 'https'],
    ])
    assert.equal(withUsualParts({ labels }, urls).labels.get('__scheme__'), 'https')
  })

  it('keeps user and further values of parameters, but for no other host', () => {
    const target = withUsualParts({ labels: new Map([['__address__', 'http://u:p@a:1/b?c=1&c=2']]) }, urls)
    assert.equal((specFrom(target, defaultsWith()) as TargetSpec).url, 'http://u:p@a:1/b?c=1&c=2')
    const rules = [{ target_label: '__address__', replacement: 'b:1' }]
    assert.equal((specFrom(target, defaultsWith({}, rules)) as TargetSpec).url, 'http://b:1/b?c=1&c=2')
  })
})
