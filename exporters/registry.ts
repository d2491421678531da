/** All exporters there are. */
import type { ExporterDefinition } from '../pipeline/component.ts'
import { debug } from './debug.ts'
import { file } from './file.ts'
import { otlpHttp } from './otlp-http.ts'
import { prometheus } from './prometheus.ts'
import { prometheusRemoteWrite } from './prometheus-remote-write.ts'

export const exporters: readonly ExporterDefinition[] = [prometheus, otlpHttp, prometheusRemoteWrite, file, debug]
