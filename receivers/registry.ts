/** All receivers. */
import type { ReceiverDefinition } from '../pipeline/component.ts'
import { dcgm } from './dcgm.ts'

export const receivers: readonly ReceiverDefinition[] = [dcgm]
