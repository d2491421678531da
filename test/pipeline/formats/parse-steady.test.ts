import assert from 'node:assert/strict'
import { createTextReader, type Exposition } from '../../../pipeline/formats/prometheus-text.ts'
import { labelsFrom } from '../../../pipeline/model/labels.ts'
import { columnCount, labelsAt, metricAt } from '../../../pipeline/model/layout.ts'

const FAMILIES = ['DCGM_FI_DEV_SM_CLOCK', 'DCGM_FI_DEV_GPU_TEMP', 'DCGM_FI_DEV_GPU_UTIL', 'DCGM_FI_DEV_FB_USED']

/** A block of lines for each family. */
function blocksOf(options: { host?: string; gpus?: number; value?: number; pod?: string } = {}): string[] {
  const { host = 'node-a', gpus = 8, value = 1, pod = '' } = options
  return FAMILIES.map((name, family) => {
    const lines = Array.from({ length: gpus }, (_, gpu) => {
      const podLabel = pod !== '' && gpu === 3 ? `,pod="${pod}"` : ''
      return `${name}{gpu="${gpu}",UUID="GPU-${gpu}",Hostname="${host}"${podLabel}} ${value + gpu + family / 4}\n`
    })
    return `# HELP ${name} Help.\n# TYPE ${name} gauge\n${lines.join('')}`
  })
}

describe('reading the same source again', () => {
  /** A reader that counts how often it made labels. */
  function createReader() {
    const made: string[] = []
    const reader = createTextReader({
      labels: exposed => {
        made.push(JSON.stringify([...exposed]))
        return labelsFrom(exposed)
      },
    })
    return {
      made,
      read(text: string): Exposition {
        reader.begin('text')
        reader.push(Buffer.from(text))
        return reader.finish()
      },
    }
  }

  it('does label work once per label block, not per series or scrape', () => {
    const { read, made } = createReader()
    const first = read(blocksOf().join(''))
    assert.equal(columnCount(first.layout), 32)
    assert.equal(made.length, 8)
    for (let value = 2; value < 5; value++) {
      const { layout, values, added } = read(blocksOf({ value }).join(''))
      assert.equal(layout, first.layout)
      assert.equal(values[9], value + 1.25)
      assert.equal(added, 0)
    }
    assert.equal(made.length, 8)
  })

  it('keeps the layout when families come in another order', () => {
    const { read, made } = createReader()
    const [a, b, c, d] = blocksOf()
    const first = read([a, b, c, d].join(''))
    for (const order of [
      [b, a, c, d],
      [d, c, b, a],
      [c, d, a, b],
    ]) {
      const { layout, values } = read(order.join(''))
      assert.equal(layout, first.layout)
      assert.deepEqual(values, first.values)
    }
    assert.equal(made.length, 8)
  })

  it('keeps the layout when lines never come in the same order', () => {
    const { read, made } = createReader()
    const lines = blocksOf().join('').split('\n').slice(0, -1)
    const first = read(lines.join('\n'))
    for (let turn = 1; turn < 9; turn++) {
      // Seven and the number of lines have no common divisor, so this is always another order of all of them.
      const order = lines.map((_, i) => lines[(i * 7 + turn) % lines.length]!)
      const { layout, values } = read(order.join('\n'))
      assert.equal(layout, first.layout)
      assert.deepEqual(values, first.values)
    }
    assert.equal(made.length, 8)
  })

  it('does label work for the one GPU whose pod changed', () => {
    const { read, made } = createReader()
    const before = read(blocksOf({ pod: 'a' }).join(''))
    const { layout, added } = read(blocksOf({ pod: 'b' }).join(''))
    assert.equal(made.length, 9)
    assert.match(made[8]!, /"pod","b"/)
    assert.equal(added, FAMILIES.length)
    assert.equal(columnCount(layout), 32)
    assert.equal(layout.keptFrom!.id, before.layout.id)
    assert.equal(keptColumns(layout.keptFrom!.runs), 28)
  })

  it('drops the series of a line that is gone, and takes it back without label work', () => {
    const { read, made } = createReader()
    const all = blocksOf().join('')
    const first = read(all)
    const { layout } = read(all.replace(/DCGM_FI_DEV_GPU_TEMP\{gpu="2".*\n/, ''))
    assert.equal(columnCount(layout), 31)
    assert.equal(keptColumns(layout.keptFrom!.runs), 31)
    const { layout: again, added } = read(all)
    assert.equal(columnCount(again), 32)
    assert.equal(added, 1)
    assert.deepEqual(again.metricOf, first.layout.metricOf)
    assert.equal(made.length, 8)
  })

  it('goes on as before after a payload that could not be read', () => {
    const { read, made } = createReader()
    const first = read(blocksOf().join(''))
    const empty = read('<html>not here</html>\n')
    assert.equal(columnCount(empty.layout), 0)
    assert.equal(empty.badLines, 1)
    const { layout } = read(blocksOf().join(''))
    assert.deepEqual(layout.labels, first.layout.labels)
    assert.equal(made.length, 16)
  })

  it('makes a metric of a new description another one', () => {
    const { read } = createReader()
    const first = read('# TYPE a gauge\na 1\nb 1\n')
    const { layout } = read('# TYPE a counter\na 1\nb 1\n')
    assert.equal(metricAt(layout, 0).type, 'counter')
    assert.equal(metricAt(layout, 1), metricAt(first.layout, 1))
    assert.deepEqual([...layout.keptFrom!.runs], [1, 1, 1])
  })

  it('lets targets with the same structure share it', () => {
    const layouts = ['node-a', 'node-b'].map(host => createReader().read(blocksOf({ host }).join('')).layout)
    const [a, b] = layouts
    assert.notEqual(a, b)
    assert.equal(a!.metrics, b!.metrics)
    assert.equal(a!.metricOf, b!.metricOf)
    assert.equal(a!.labelsOf, b!.labelsOf)
    assert.notEqual(labelsAt(a!, 0), labelsAt(b!, 0))
  })

  it('reads lines that are torn anywhere', () => {
    const text = blocksOf({ value: 1.5 }).join('') + 'last 7'
    const whole = createReader().read(text)
    const reader = createTextReader()
    for (let size = 1; size < 80; size++) {
      reader.begin('text')
      for (let start = 0; start < text.length; start += size) reader.push(Buffer.from(text.slice(start, start + size)))
      const { layout, values, badLines } = reader.finish()
      assert.equal(columnCount(layout), columnCount(whole.layout))
      assert.deepEqual(values, whole.values)
      assert.equal(badLines, 0)
    }
  })

  it('keeps sources apart that are read at the same time, also when some are given up', () => {
    const hosts = ['node-a', 'node-b', 'node-c', 'node-d']
    const readers = hosts.map(() => createTextReader())
    const readAll = (value: number, givenUp: number): (Exposition | undefined)[] => {
      const texts = hosts.map((host, i) => blocksOf({ host, gpus: 2 + i, value: value + i }).join(''))
      readers.forEach(reader => reader.begin('text'))
      for (let start = 0; start < texts.at(-1)!.length; start += 50) {
        readers.forEach((reader, i) => reader.push(Buffer.from(texts[i]!.slice(start, start + 50))))
      }
      return readers.map((reader, i) => (i === givenUp ? undefined : reader.finish()))
    }
    const layouts = readAll(0, -1).map(exposition => exposition!.layout)
    for (const [scrape, givenUp] of [1, 3, 0, 0, 2, -1].entries()) {
      readAll(scrape, givenUp).forEach((exposition, i) => {
        if (exposition === undefined) return
        assert.equal(exposition.layout, layouts[i])
        const expected = FAMILIES.flatMap((_, family) =>
          Array.from({ length: 2 + i }, (_, gpu) => scrape + i + gpu + family / 4),
        )
        assert.deepEqual([...exposition.values], expected)
        assert.equal(exposition.badLines, 0)
      })
    }
  })

  it('skips a line that does not end, and keeps nothing of it', () => {
    const reader = createTextReader()
    reader.begin('text')
    reader.push(Buffer.from('a 1\nendless{x="'))
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    for (let i = 0; i < 20; i++) reader.push(megabyte)
    reader.push(Buffer.from('\nb 2\n'))
    const { layout, badLines, problem } = reader.finish()
    assert.equal(columnCount(layout), 2)
    assert.equal(badLines, 1)
    assert.match(problem!, /line 2: the line is too long/)
  })

  it('takes a label of a megabyte', () => {
    const { read } = createReader()
    const text = `a{x="${'y'.repeat(1024 * 1024)}"} 1\n`
    const first = read(text)
    assert.equal(columnCount(first.layout), 1)
    assert.equal(read(text).layout, first.layout)
  })
})

function keptColumns(runs: Uint32Array): number {
  let kept = 0
  for (let i = 2; i < runs.length; i += 3) kept += runs[i]!
  return kept
}
