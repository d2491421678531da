/** Finds and reads presets of vendors: those in `configs/vendors` by name, a user's own by path. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { checkValue } from '../config/check-value.ts'
import { closest } from '../config/closest.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Finding } from '../config/finding.ts'
import { problemsFrom } from '../config/problems.ts'
import type { Schema } from '../config/schema-walk.ts'
import { findSecrets } from '../config/secrets.ts'
import { createSource, startOf } from '../config/source.ts'
import { readYaml } from '../config/yaml-source.ts'
import { packageFile } from '../package-files.ts'
import { vendorSchema, type Vendor } from './vendor-schema.ts'

export function vendorNames(): string[] {
  return readdirSync(packageFile('configs', 'vendors'))
    .filter(file => file.endsWith('.yaml'))
    .map(file => basename(file, '.yaml'))
    .sort()
}

/** Throws an Error that names the file and what is wrong with it. */
export function loadVendor(nameOrPath: string): Vendor {
  const isPath = nameOrPath.includes('/') || /\.ya?ml$/.test(nameOrPath)
  const path = isPath ? nameOrPath : packageFile('configs', 'vendors', `${nameOrPath.replaceAll('-', '_')}.yaml`)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const names = isPath ? [] : vendorNames()
    const meant = closest(nameOrPath, names)
    const others = names.length === 0 ? '' : `; there are ${names.join(', ')}`
    throw new Error(
      `there is no vendor "${nameOrPath}"${meant === undefined ? others : `; did you mean "${meant}"?`}`,
      { cause },
    )
  }
  return readVendor(path, text)
}

export function readVendor(path: string, text: string): Vendor {
  const source = createSource(path, text)
  const { root, findings: syntax } = readYaml(source)
  const findings: Finding[] = [...syntax]
  let vendor: Vendor | undefined
  if (syntax.length === 0) {
    const { value, findings: found } = checkValue(
      { keyPlace: startOf(source), value: root },
      'the vendor',
      vendorSchema as Schema,
    )
    findings.push(...found)
    vendor = value as Vendor
  }
  if (vendor === undefined || findings.length > 0) {
    throw new ConfigError(problemsFrom(findings, findSecrets([root], vendorSchema as Schema, findings)))
  }
  return vendor
}
