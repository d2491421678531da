/** What was sent is not what it says it is. The message says what was expected and what was found. */
export class MalformedError extends Error {
  override name = 'MalformedError'
}
