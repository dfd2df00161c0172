/**
 * A controller: it is called for an object after each change that may concern it, for one object at a time, and again if
 * something has changed while it was at work.
 */
import type { Fields } from "../api/json.ts"
import { type Change, nameIn, namespaceIn, type ObjectStore } from "../api/ObjectStore.ts"
import type { Resource } from "../api/resources.ts"

export class Controller {
  readonly #store: ObjectStore
  readonly #resource: Resource
  readonly #reconcile: (object: Fields) => Promise<void>
  readonly #atWork = new Map<string, Promise<void>>()
  readonly #due = new Set<string>()
  readonly #stop: () => void
  #closed = false
  /** Errors; a test that ends looks at them. */
  readonly failures: Array<unknown> = []

  /** `concerns`: the name of the object that a change of any resource concerns, in the namespace of the change. */
  constructor(
    store: ObjectStore,
    resource: Resource,
    concerns: (change: Change) => string | undefined,
    reconcile: (object: Fields) => Promise<void>
  ) {
    this.#store = store
    this.#resource = resource
    this.#reconcile = reconcile
    this.#stop = store.onChange((change) => {
      const name = concerns(change)
      if (name !== undefined) this.enqueue(namespaceIn(change.object), name)
    })
  }

  enqueue(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    if (this.#closed) return
    if (this.#atWork.has(key)) return void this.#due.add(key)
    this.#atWork.set(key, this.#work(key, namespace, name))
  }

  async #work(key: string, namespace: string, name: string): Promise<void> {
    await new Promise(setImmediate)
    do {
      this.#due.delete(key)
      const object = this.#store.find(this.#resource, namespace, name)
      if (object !== undefined) await this.#reconcile(object).catch((cause: unknown) => void this.failures.push(cause))
    } while (this.#due.has(key) && !this.#closed)
    this.#atWork.delete(key)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stop()
    await Promise.all(this.#atWork.values())
  }
}

/** The name of the changed object itself, if it is of the resource. */
export const itself = (resource: Resource) => (change: Change) =>
  change.resource === resource ? nameIn(change.object) : undefined
