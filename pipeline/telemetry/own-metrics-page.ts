/** `configs/own-metrics.md`, made from the table. */
import { OWN_METRICS, prometheusName, type OwnMetric } from './own-metrics.ts'

export function renderOwnMetricsPage(): string {
  return `# What gpucol says about itself

Made from \`pipeline/telemetry/own-metrics.ts\` by \`npm run generate\`; change it there.

Own metrics can be scraped at \`http://127.0.0.1:8888/metrics\` (\`service.telemetry.metrics.address\`; \`none\` turns that off) and are
pushed by OTLP where \`service.telemetry.metrics.push\` says so. Names stay as they are: a change of one is a line in the changelog.

A metric is there once something was counted. The labels \`receiver\`, \`processor\`, \`exporter\` and \`extension\` hold the id of a
component as the config has it; \`pipeline\` tells the copies of a processor apart. Histograms have \`_bucket\`, \`_sum\` and \`_count\` at the
end of the name, and these upper bounds:

${OWN_METRICS.flatMap(bounds).join('\n')}

| at \`/metrics\` | by OTLP | kind | unit | labels | meaning |
|---|---|---|---|---|---|
${OWN_METRICS.map(row).join('\n')}
`
}

function row(metric: OwnMetric): string {
  const labels = metric.labels.map(label => `\`${label}\``).join(', ')
  const unit = metric.unit === '' ? '' : `\`${metric.unit}\``
  return `| \`${prometheusName(metric)}\` | \`${metric.name}\` | ${metric.kind} | ${unit} | ${labels} | ${metric.description} |`
}

function bounds({ name, buckets }: OwnMetric): string[] {
  return buckets === undefined ? [] : [`- \`${name}\`: ${buckets.join(', ')}`]
}
