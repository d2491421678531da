/** What is wrong with a config: every problem in one report, each with its place, the line and a caret. */

export type ConfigProblem = {
  /** The path as it was given, or `--set a.b`. */
  readonly file: string
  /** Line and column count from 1. Both are missing where a file could not be read, and for `--set`. */
  readonly line?: number
  readonly column?: number
  /** In the words of the config, lower case, without the value of a secret. */
  readonly message: string
  /** What was probably meant. */
  readonly suggestion?: string
  readonly severity: 'error' | 'warning'
  /** The line in question, with secrets masked; `column` counts from 1. */
  readonly excerpt?: { readonly line: string; readonly column: number; readonly length: number }
}

/** `problems` are all of them, warnings included; the message is the whole report. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    super(formatProblems(problems))
    this.problems = problems
  }
}

export function formatProblems(problems: readonly ConfigProblem[]): string {
  return problems.map(formatProblem).join('\n')
}

export function formatProblem(problem: ConfigProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}:${problem.column}`
  const severity = problem.severity === 'warning' ? 'warning: ' : ''
  const lines = [`${place}: ${severity}${problem.message}`]
  if (problem.excerpt !== undefined) {
    const { line, column, length } = problem.excerpt
    // Tabs are kept, so that the caret stands under its character whatever the width of a tab is.
    const indent = line.slice(0, column - 1).replace(/[^\t]/g, ' ')
    lines.push(`  ${line}`, `  ${indent}${'^'.repeat(Math.max(1, length))}`)
  }
  if (problem.suggestion !== undefined) lines.push(`  did you mean \`${problem.suggestion}\`?`)
  return lines.join('\n')
}
