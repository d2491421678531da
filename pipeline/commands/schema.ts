/** `gpucol schema`: the JSON schema of a config, for editors. */
import { writeFileSync } from 'node:fs'
import { testEditorSchema } from '../config-tests/editor-schema.ts'
import { editorSchema } from '../config/editor-schema.ts'
import { referencePage } from '../config/reference.ts'
import { packageFile } from '../package-files.ts'
import { refusePositionals, type Command } from './command.ts'

export const schema: Command = {
  name: 'schema',
  summary: 'prints the JSON schema of a config, for editors.',
  help: `Usage: gpucol schema [--write]

An editor that speaks JSON schema completes and checks a config that begins with
# yaml-language-server: $schema=schema.json

  --write          Writes the generated files in configs/ instead: schema.json, reference.md, test-schema.json.
`,
  options: { write: { type: 'boolean' } },
  async run(args, { registries, out }) {
    refusePositionals(args)
    const text = `${JSON.stringify(editorSchema(registries), undefined, 2)}\n`
    if (args.values['write'] !== true) {
      out(text)
      return 0
    }
    for (const [name, content] of [
      ['schema.json', text],
      ['reference.md', referencePage(registries)],
      ['test-schema.json', `${JSON.stringify(testEditorSchema(registries), undefined, 2)}\n`],
    ] as const) {
      writeFileSync(packageFile('configs', name), content)
      out(`configs/${name} is written\n`)
    }
    return 0
  },
}
