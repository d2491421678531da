/** A store under a virtual clock: time stands still while the store works, as disks are no part of what is virtual. */
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { Storage } from '../component.ts'

export function trackStorage(storage: Storage, clock: VirtualClock): Storage {
  return {
    persistent: storage.persistent,
    state(name) {
      const store = storage.state(name)
      return {
        load: () => clock.track(store.load()),
        write: changes => clock.track(store.write(changes)),
      }
    },
  }
}
