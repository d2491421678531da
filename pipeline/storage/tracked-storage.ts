/** A store under a virtual clock: time stands still while the store works, as disks are no part of what is virtual. */
import type { VirtualClock } from '../clock/virtual-clock.ts'
import type { Storage } from '../component.ts'

export function trackStorage(storage: Storage, clock: VirtualClock): Storage {
  return {
    persistent: storage.persistent,
    // A directory of a config is one of the machine that it is made for.
    async queue(name, { maxBytes }) {
      const queue = await clock.track(storage.queue(name, { maxBytes }))
      return {
        ...queue,
        write: changes => clock.track(queue.write(changes)),
        read: id => clock.track(queue.read(id)),
        close: abandoned => clock.track(queue.close(abandoned)),
      }
    },
    state(name) {
      const store = storage.state(name)
      return {
        load: () => clock.track(store.load()),
        write: changes => clock.track(store.write(changes)),
      }
    },
  }
}
