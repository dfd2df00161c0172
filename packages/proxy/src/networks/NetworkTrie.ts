/**
 * A binary trie over the networks of one address family, in which a node stands for a network that is listed or where
 * two listed networks part: chains of single children are one step. A match costs at most one step per bit of the
 * address, and a step reads one line of the cache. Among n networks a path has about log2(n) steps, most of which an
 * index of the first bits skips.
 *
 * For each listed network the trie holds the expiry, the latest one if a network is listed twice. A match returns the
 * instant until which it holds, not a boolean, because a connection ends with the last rule that covers it.
 */

/** The most bits in an index, which then has 12 bytes for each of 65,536 values: 786 kB. */
const mostIndexed = 16

/**
 * A node is `#width` integers: its length in bits, its two children, whether it is listed, and the words of its key.
 */
const [left, listed, key] = [1, 3, 4]

export class NetworkTrie {
  /** 32-bit words of an address: 1 or 4. The first network decides, because a trie has one family. */
  #words = 1
  #width = key + 1
  /** Node 0 is the root, of length 0, so 0 also means "no child". Bits of a key after its length have no meaning. */
  #nodes = new Int32Array(16 * this.#width)
  /** The expiry of each node; 0 where it is not listed. */
  readonly #until: Array<number> = []
  /**
   * For each value of the first `#bits` bits of an address the last node on its path that has no more bits, and the
   * latest expiry on the path. Made by the first match: lists are replaced more often than they are matched.
   */
  #bits = 0
  #from = new Int32Array(0)
  #before = new Float64Array(0)

  /** Adds a network that expires at `until`, in milliseconds; `Infinity`: never. */
  add(bytes: Uint8Array, prefix: number, until: number): void {
    if (this.#until.length === 0) {
      this.#words = bytes.length >> 2
      this.#width = key + this.#words
      this.#node(bytes, 0)
    }
    this.#bits = 0
    let node = 0
    while (this.#length(node) !== prefix) {
      const bit = bitAt(bytes, this.#length(node))
      const child = this.#child(node, bit)
      // A new node is the network itself, or where it and the child part: the child moves below it.
      const common = child === 0 ? prefix : Math.min(this.#common(child, bytes), prefix, this.#length(child))
      if (child !== 0 && common === this.#length(child)) node = child
      else {
        const made = this.#node(bytes, common)
        this.#nodes[node * this.#width + left + bit] = made
        if (child !== 0) this.#nodes[made * this.#width + left + this.#bitOf(child, common)] = child
        node = made
      }
    }
    this.#nodes[node * this.#width + listed] = 1
    this.#until[node] = Math.max(this.#until[node] ?? 0, until)
  }

  /** The latest expiry of the networks that cover the address, in milliseconds; 0 if there is none. */
  coveredUntil(bytes: Uint8Array): number {
    if (this.#until.length === 0) return 0
    if (this.#bits === 0) this.#makeIndex()
    const [nodes, width] = [this.#nodes, this.#width]
    const bits = 32 * this.#words
    let at = 0
    let word = wordAt(bytes, 0)
    const indexed = word >>> (32 - this.#bits)
    let until = this.#before[indexed] ?? 0
    let node = this.#from[indexed] ?? 0
    let length = nodes[node * width] ?? 0
    while (length < bits) {
      if (length >> 5 !== at) {
        at = length >> 5
        word = wordAt(bytes, at)
      }
      node = nodes[node * width + left + ((word >>> (31 - (length & 31))) & 1)] ?? 0
      if (node === 0) break
      length = nodes[node * width] ?? 0
      const different = (nodes[node * width + key + at] ?? 0) ^ word
      if (different !== 0 && 32 * at + Math.clz32(different) < length) break
      // The network is longer than this word.
      if (length > 32 * at + 32 && this.#common(node, bytes) < length) break
      if (nodes[node * width + listed] === 0) continue
      const here = this.#until[node] ?? 0
      if (here > until) until = here
    }
    return until
  }

  #makeIndex(): void {
    this.#bits = Math.min(mostIndexed, 32 - Math.clz32(this.#until.length))
    this.#from = new Int32Array(2 ** this.#bits)
    this.#before = new Float64Array(2 ** this.#bits)
    this.#index(0, 0)
  }

  /** Puts a node into the index, and those below it. `before`: the latest expiry of those above it. */
  #index(node: number, before: number): void {
    const length = this.#length(node)
    if (length > this.#bits) return
    const until = Math.max(before, this.#until[node] ?? 0)
    const values = 2 ** (this.#bits - length)
    const first = (this.#word(node, 0) >>> (32 - this.#bits)) & -values
    this.#from.fill(node, first, first + values)
    this.#before.fill(until, first, first + values)
    for (const bit of [0, 1]) {
      const child = this.#child(node, bit)
      if (child !== 0) this.#index(child, until)
    }
  }

  #node(bytes: Uint8Array, length: number): number {
    const node = this.#until.push(0) - 1
    const at = node * this.#width
    if (at + this.#width > this.#nodes.length) {
      const larger = new Int32Array(2 * this.#nodes.length)
      larger.set(this.#nodes)
      this.#nodes = larger
    }
    this.#nodes[at] = length
    for (let word = 0; word < this.#words; word++) this.#nodes[at + key + word] = wordAt(bytes, word)
    return node
  }

  #length(node: number): number {
    return this.#nodes[node * this.#width] ?? 0
  }

  #child(node: number, bit: number): number {
    return this.#nodes[node * this.#width + left + bit] ?? 0
  }

  /** How many bits the address has in common with the key of the node, from the first. */
  #common(node: number, bytes: Uint8Array): number {
    for (let word = 0; word < this.#words; word++) {
      const different = this.#word(node, word) ^ wordAt(bytes, word)
      if (different !== 0) return 32 * word + Math.clz32(different)
    }
    return 32 * this.#words
  }

  #word(node: number, word: number): number {
    return this.#nodes[node * this.#width + key + word] ?? 0
  }

  #bitOf(node: number, bit: number): number {
    return (this.#word(node, bit >> 5) >>> (31 - (bit & 31))) & 1
  }
}

const bitAt = (bytes: Uint8Array, bit: number) => ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1

const wordAt = (bytes: Uint8Array, word: number) => {
  const at = 4 * word
  return ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)
}
