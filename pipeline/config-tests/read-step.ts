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

/** What all that is read from a test file is read with. */
export type Reading = {
  readonly root: YamlEntry
  readonly contents: ContentReader
  readonly mayLackExpected?: boolean
  /** Whether what stands at a path is as its schema wants it. What is not is passed over. */
  isSound(path: Path): boolean
  report(finding: Finding): void
}

export type StepReader = {
  /** What is wrong is reported; its time is NaN if that is wrong. */
  read(step: RawStep, path: Path, subject: Subject['kind'] | undefined): Step
}

/** That of the Prometheus text format, as most exporters send it. */
const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function createStepReader(reading: Reading): StepReader {
  const { root, contents, isSound, report } = reading
  const readExpectation = createExpectationReader(reading)

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
      if (!isSound(answerPath)) return []
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

  /** What `make` makes of a part of a step, if that is there and sound. */
  function part<T, R>(value: T | undefined, path: Path, make: (value: T, path: Path) => R): R | undefined {
    return value === undefined || !isSound(path) ? undefined : make(value, path)
  }

  return {
    read(step, path, subject) {
      const objectsPath = [...path, 'objects']
      const objects = part(step.objects, objectsPath, (raw, at) => {
        const content = contentAt(raw, at)
        return content && readObjects(content, report)
      })
      const input = part(step.input, [...path, 'input'], (raw, at) => inputOf(raw, at, subject))
      return {
        at: step.at,
        atMs: part(step.at, [...path, 'at'], parseDuration) ?? NaN,
        answers: isMap(step.answers) ? answersOf(step.answers, [...path, 'answers']) : [],
        ...(objects !== undefined && { objects, objectsPlace: placeOfKey(root, objectsPath) }),
        ...(input !== undefined && { input }),
        expect: listOf(step.expect).flatMap((raw, index) => {
          const expectation = part(raw, [...path, 'expect', index], readExpectation)
          return expectation === undefined ? [] : [expectation]
        }),
      }
    },
  }
}

export function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whatever somebody may have written instead of a list is no list. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : []
}
