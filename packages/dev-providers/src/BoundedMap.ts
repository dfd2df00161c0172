/** A map that forgets its oldest entries, so that whoever fills it from outside cannot fill the memory. */
export class BoundedMap<Value> {
  private readonly entries = new Map<string, Value>()
  private readonly capacity: number

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get(key: string): Value | undefined {
    return this.entries.get(key)
  }

  /** Puts `value` at `key`, where it counts as the newest. */
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

  /** Forgets every entry that `forget` picks. */
  deleteWhere(forget: (value: Value) => boolean): void {
    for (const [key, value] of this.entries) if (forget(value)) this.entries.delete(key)
  }
}
