/** The schema of the `service` section. */
import { duration, endpoint, headers, url } from './fields.ts'
import type { Schema } from './schema-walk.ts'

const ids = (description: string) => ({ type: 'array', items: { type: 'string' }, description }) as const

export const pipelineSchema = {
  type: 'object',
  properties: {
    receivers: ids('Ids of the receivers that feed it. At least one.'),
    processors: ids('Ids of the processors that it goes through, in this order.'),
    exporters: ids('Ids of the exporters that all of them get the result. At least one.'),
  },
  description: 'One way from receivers through processors to exporters.',
} as const satisfies Schema

export const serviceSchema = {
  type: 'object',
  properties: {
    extensions: { ...ids('Ids of the extensions to start.'), default: [] },
    pipelines: {
      type: 'object',
      additionalProperties: pipelineSchema,
      description: 'Pipelines by id: `metrics` or `metrics/name`.',
    },
    storage: {
      type: 'string',
      minLength: 1,
      description:
        'Directory for what survives a restart: state, and what waits to be sent. Without it, both are kept in memory.',
    },
    telemetry: {
      type: 'object',
      default: {},
      description: 'How gpucol tells about itself.',
      properties: {
        metrics: {
          type: 'object',
          default: {},
          description: 'Own metrics.',
          properties: {
            address: {
              ...endpoint('Address at which `/metrics` is served, `host:port`; `none` turns it off.', '127.0.0.1:8888'),
              format: 'endpoint_or_none',
            },
            push: {
              type: 'object',
              description: 'Push own metrics by OTLP, too.',
              properties: {
                endpoint: url('The whole URL, such as https://otlp.example.com/v1/metrics.'),
                interval: duration('Time between two pushes.', '60s'),
                headers: { ...headers, default: {} },
              },
              required: ['endpoint'],
            },
          },
        },
        logs: {
          type: 'object',
          default: {},
          description: 'Own log, on standard error.',
          properties: {
            level: {
              type: 'string',
              enum: ['debug', 'info', 'warn', 'error'],
              default: 'info',
              description: 'The least important lines to show.',
            },
            encoding: {
              type: 'string',
              enum: ['console', 'json'],
              default: 'console',
              description: '`console` for people, `json` for programs.',
            },
          },
        },
      },
    },
  },
  description: 'Which of the components run, and how.',
} as const satisfies Schema
