/** Text as Go's client library for Prometheus writes it: families by name, one block each. */

export type FamilyText = { readonly name: string; readonly text: string }

/** Samples are whole lines. */
export function familyText(name: string, type: 'counter' | 'gauge', help: string, samples: string): FamilyText {
  return { name, text: `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples}` }
}

/** A family of one series without labels. */
export function singleText(name: string, type: 'counter' | 'gauge', help: string, value: string): FamilyText {
  return familyText(name, type, help, `${name} ${value}\n`)
}

export function joinFamilies(families: readonly FamilyText[]): string {
  return families
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ text }) => text)
    .join('')
}
