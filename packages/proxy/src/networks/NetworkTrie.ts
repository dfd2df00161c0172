/**
 * A binary trie over the networks of one address family. A match costs one step per bit of the address, whatever the
 * number of rules.
 *
 * Each node holds the expiry of its network; for a network that is listed twice the latest expiry counts. A match
 * returns the instant until which it holds, not a boolean, because a connection ends with the last rule that covers it.
 */
export class NetworkTrie {
  // The children of node n are #next[2n] and #next[2n + 1]. Node 0 is the root, so 0 also means "no child".
  readonly #next: Array<number> = [0, 0]
  readonly #until: Array<number> = [0]

  /** Adds a network that expires at `until`, in milliseconds; `Infinity`: never. */
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

  /** The latest expiry of the networks that cover the address, in milliseconds; 0 if there is none. */
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
