/** The inside of `roll_up` without its timer: for tests that look at accumulators and at the model. */
import { knownFacts, loadOutputCatalog } from '../../pipeline/catalog/catalogs.ts'
import { usualWorkloadRules } from '../../pipeline/catalog/workload-rules.ts'
import { assignmentRules } from '../../pipeline/cluster/assignment-rules.ts'
import type { Batch } from '../../pipeline/model/batch.ts'
import { createCycle, type Cycle } from '../../processors/roll-up/cycle.ts'
import { createIntake } from '../../processors/roll-up/intake.ts'
import { createModel, type Model, type ModelRules } from '../../processors/roll-up/model.ts'
import { resolveRules } from '../../processors/roll-up/rules.ts'
import { ownSources } from '../../processors/roll-up/own-sources.ts'
import { createValues } from '../../processors/roll-up/values.ts'
import { rollUp } from '../../processors/roll-up.ts'
import { configOf } from './config-of.ts'
import type { TestHost } from './test-host.ts'

export type RollUpCycle = { readonly cycle: Cycle; readonly model: Model; take(batch: Batch): void }

export function rollUpCycle(host: TestHost): RollUpCycle {
  const { catalogs, cluster, clock } = host
  const facts = knownFacts(catalogs)
  const outputs = ['runai-2.17', 'unattributed'].map(name => loadOutputCatalog(catalogs, name))
  const { rules } = resolveRules(outputs, [], facts)
  const values = createValues(rules, facts, 0)
  const its = modelRules(host)
  const model = createModel(cluster, () => its, new Set(rules.map(({ level }) => level)))
  const cycle = createCycle({
    sources: ownSources(cluster, 'test', undefined),
    rules,
    values,
    model,
    sharedMemory: 'measured',
    neverActive: 'none',
    now: clock.now,
  })
  const { settle } = cycle
  const intake = createIntake({ uses: values.uses, holdMs: 300_000, monotonic: clock.monotonic, settle })
  return { cycle, model, take: batch => intake.take(batch) }
}

/** What `roll_up` and `join_workload` go by when nothing is configured. */
export function modelRules({ catalogs }: TestHost): ModelRules {
  const workload = usualWorkloadRules(catalogs)
  const config = configOf(rollUp, {})
  return {
    workload,
    assignment: assignmentRules(config),
    clusterId: 'local',
    megabytesPerRequested: 1,
    unlimited: 'inf',
  }
}
