/**
 * A binary trie over the networks of one address family: a match costs one step a bit, however many rules there are.
 *
 * The expiry sits in the node, the latest one winning where a network is listed twice. A match answers until when it
 * holds rather than yes or no, because a connection must end with the last rule that covers it, not with the first.
 */
export class NetworkTrie {
  // Node n's children are #next[2n] and #next[2n + 1]; node 0 is the root, so 0 also says "no child".
  readonly #next: Array<number> = [0, 0]
  readonly #until: Array<number> = [0]

  /** Lists a network until an instant in milliseconds; `Infinity` for good. */
  add(bytes: Uint8Array, prefix: number, until: number): void {
    let node = 0
    for (let bit = 0; bit < prefix; bit++) {
      const side = 2 * node + bitAt(bytes, bit)
      let child = this.#next[side] ?? 0
      if (child === 0) {
        child = this.#until.push(0) - 1
        this.#next.push(0, 0)
        this.#next[side] = child
      }
      node = child
    }
    this.#until[node] = Math.max(this.#until[node] ?? 0, until)
  }

  /** The latest instant until which a listed network covers the address; 0 when none does. */
  coveredUntil(bytes: Uint8Array): number {
    let node = 0
    let until = this.#until[0] ?? 0
    const bits = bytes.length * 8
    for (let bit = 0; bit < bits; bit++) {
      node = this.#next[2 * node + bitAt(bytes, bit)] ?? 0
      if (node === 0) break
      const here = this.#until[node] ?? 0
      if (here > until) until = here
    }
    return until
  }
}

const bitAt = (bytes: Uint8Array, bit: number) => ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1
