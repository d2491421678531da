/** Plain pages for people who look with a browser. */

export function page(title: string, parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<style>body { font-family: sans-serif } td, th { text-align: left; vertical-align: top; padding: 0 1em 0 0 }</style>
${parts.join('\n')}
</html>
`
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map(text => `<th>${escapeHtml(text)}</th>`).join('')
  const body = rows.map(row => `<tr>${row.map(text => `<td>${escapeHtml(text)}</td>`).join('')}</tr>`)
  return [`<table>`, `<tr>${head}</tr>`, ...body, `</table>`].join('\n')
}

const HTML_ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export function escapeHtml(value: string): string {
  return value.replaceAll(/[&<>"]/g, character => HTML_ESCAPES[character]!)
}
