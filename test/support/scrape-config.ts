/** The config of a pulling receiver with all its defaults, as `create` gets it. */
import { Ajv } from 'ajv'
import { scrapeFields, type ScrapeConfig } from '../../receivers/scraping/scrape-config.ts'

export function scrapeConfig(changes: Partial<ScrapeConfig> = {}): ScrapeConfig {
  const config = structuredClone(changes)
  const validate = new Ajv({ useDefaults: true, strict: false, validateFormats: false }).compile({
    type: 'object',
    properties: scrapeFields,
    additionalProperties: false,
  })
  if (!validate(config)) throw new Error(`the config of the test is wrong: ${JSON.stringify(validate.errors)}`)
  return config as ScrapeConfig
}
