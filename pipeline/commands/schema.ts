/** `gpucol schema`: the JSON schema of a config, for editors. */
import { writeFileSync } from 'node:fs'
import { packageFile } from '../package-files.ts'
import { refusePositionals, type Command } from './command.ts'
import { generatedFiles, schemaText } from './generated-files.ts'

export const schema: Command = {
  name: 'schema',
  summary: 'prints the JSON schema of a config, for editors.',
  help: `Usage: gpucol schema [--write]

An editor that speaks JSON schema completes and checks a config that begins with
# yaml-language-server: $schema=schema.json

  --write          Writes the generated files in configs/ instead: this schema, that of test files, and the reference pages.
`,
  options: { write: { type: 'boolean' } },
  async run(args, { registries, out }) {
    refusePositionals(args)
    if (args.values['write'] !== true) {
      out(schemaText(await registries()))
      return 0
    }
    for (const [name, content] of await generatedFiles(await registries())) {
      writeFileSync(packageFile('configs', name), content)
      out(`configs/${name} is written\n`)
    }
    return 0
  },
}
