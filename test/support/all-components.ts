/** All components there are, loaded. */
import { exporters as exporterRegistry } from '../../exporters/registry.ts'
import { registryLoader } from '../../pipeline/config/load-registries.ts'
import { extensions as extensionRegistry } from '../../pipeline/extensions.ts'
import { processors as processorRegistry } from '../../processors/registry.ts'
import { receivers as receiverRegistry } from '../../receivers/registry.ts'

export const allComponents = {
  receivers: receiverRegistry,
  processors: processorRegistry,
  exporters: exporterRegistry,
  extensions: extensionRegistry,
}
export const loadComponents = registryLoader(allComponents)

export const registries = await loadComponents()
export const { receivers, processors, exporters, extensions } = registries
