/** A map with a capacity: it evicts its oldest entries, so that requests cannot exhaust the memory. */
export class BoundedMap<Value> {
  private readonly entries = new Map<string, Value>()
  private readonly capacity: number

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  /** Sets the value of `key`, which becomes the newest entry. */
  set(key: string, value: Value): void {
    this.entries.delete(key)
    this.entries.set(key, value)
    for (const oldest of this.entries.keys()) {
      if (this.entries.size <= this.capacity) return
      this.entries.delete(oldest)
    }
  }

  delete(key: string): void {
    this.entries.delete(key)
  }

  /** Deletes every entry whose value matches. */
  deleteWhere(matches: (value: Value) => boolean): void {
    for (const [key, value] of this.entries) if (matches(value)) this.entries.delete(key)
  }
}
