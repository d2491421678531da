/** Reads the steps of a test: answers, objects, input, expectations. */
import { parseDuration } from '../config/duration.ts'
import { nodeAt, placeOfKey, placeOfValue } from '../config/entry-path.ts'
import type { Finding } from '../config/finding.ts'
import type { Path } from '../config/plain-value.ts'
import type { YamlEntry } from '../config/yaml-source.ts'
import type { Answer } from '../http/virtual-network.ts'
import { normalizeUrl } from '../http/url.ts'
import type { Content, ContentReader } from './content.ts'
import { readSamples } from './expected-text.ts'
import { readObjects } from './objects-text.ts'
import { createExpectationReader } from './read-expectation.ts'
import type { Step, Subject } from './suite.ts'
import type { TestFile } from './test-schema.ts'

type RawStep = TestFile['tests'][number]['steps'][number]
type RawAnswer = NonNullable<RawStep['answers']>[string]

export type StepReader = {
  /** The step must be as its schema wants it. What else is wrong is reported. */
  read(step: RawStep, path: Path, subject: Subject['kind'] | undefined): Step
}

/** That of the Prometheus text format, as most exporters send it. */
const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createStepReader(
  root: YamlEntry,
  contents: ContentReader,
  options: { readonly mayLackExpected?: boolean },
  report: (finding: Finding) => void,
): StepReader {
  const expectations = createExpectationReader(root, contents, options, report)

  /** What `file` or `text` at a path says; undefined if the file cannot be read. */
  function contentAt({ file, text }: { file?: string; text?: string }, path: Path): Content | undefined {
    if (text !== undefined) return contents.text(nodeAt(root, [...path, 'text'])!, text)
    try {
      return contents.file(file!)
    } catch (error) {
      report({ place: placeOfValue(root, [...path, 'file']), message: (error as Error).message })
      return undefined
    }
  }

  function answersOf(answers: Record<string, RawAnswer>, path: Path): Step['answers'] {
    const urls = new Set<string>()
    return Object.entries(answers).flatMap(([url, raw]) => {
      const answerPath = [...path, url]
      const place = placeOfKey(root, answerPath)
      try {
        const normalized = normalizeUrl(url)
        if (urls.has(normalized)) report({ place, message: `a second answer for ${normalized} in one step` })
        urls.add(normalized)
      } catch (error) {
        report({ place, message: (error as Error).message })
      }
      const answer = answerOf(raw, answerPath)
      return answer === undefined ? [] : [{ url, answer, place }]
    })
  }

  function answerOf(raw: RawAnswer, path: Path): Answer | undefined {
    const { file, text, content_type, status, error } = raw
    if (error !== undefined) {
      const other = Object.keys(raw).find(key => key !== 'error')
      if (other !== undefined) {
        report({ place: placeOfKey(root, [...path, other]), message: `no \`${other}\` where there is an \`error\`` })
      }
      return { error }
    }
    if (file !== undefined && text !== undefined) {
      report({ place: placeOfKey(root, [...path, 'text']), message: 'only one of `file` and `text` can be the body' })
    }
    const content = file === undefined && text === undefined ? undefined : contentAt(raw, path)
    return {
      contentType: content_type ?? TEXT_TYPE,
      ...(status !== undefined && { status }),
      ...(content !== undefined && { body: content.bytes }),
    }
  }

  function inputOf(raw: NonNullable<RawStep['input']>, path: Path, subject: Subject['kind'] | undefined) {
    if (subject === 'config') {
      report({ place: placeOfKey(root, path), message: '`input` goes with `processors`; a config has receivers' })
    }
    const content = contentAt(raw, path)
    if (content !== undefined) readSamples(content, report)
    return content?.bytes
  }

  return {
    read(step, path, subject) {
      const answers = step.answers === undefined ? [] : answersOf(step.answers, [...path, 'answers'])
      const objectsPath = [...path, 'objects']
      const objectsContent = step.objects === undefined ? undefined : contentAt(step.objects, objectsPath)
      const objects = objectsContent && readObjects(objectsContent, report)
      const input = step.input === undefined ? undefined : inputOf(step.input, [...path, 'input'], subject)
      return {
        at: step.at,
        atMs: parseDuration(step.at),
        answers,
        ...(objects !== undefined && { objects, objectsPlace: placeOfKey(root, objectsPath) }),
        ...(input !== undefined && { input }),
        expect: (step.expect ?? []).flatMap((raw, index) => expectations.read(raw, [...path, 'expect', index])),
      }
    },
  }
}
