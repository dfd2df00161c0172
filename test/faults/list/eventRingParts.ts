/** Segments and filters of a ring, and the wheel of timers. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventRingParts: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/ring/RingSegment.ts",
    tests: [
      "packages/core/test/events/ring/EventRing.bounds.test.ts",
      "packages/core/test/events/ring/EventRing.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts"
    ],
    faults: [
      {
        id: "segment-takes",
        find: "this.#used + length <= this.bytes.length",
        put: "this.#used <= this.bytes.length",
        why: "A frame goes into a segment only if it fits as a whole."
      },
      {
        id: "segment-visible",
        find: "(type === hidden ? 0 : 1)",
        put: "1",
        why: "Hidden entries do not count as visible."
      },
      {
        id: "segment-start",
        find: "return entry === this.first ? 0 : (this.#ends[entry - this.first - 1] ?? 0)",
        put: "return entry === this.first ? 0 : (this.#ends[entry - this.first] ?? 0)",
        why: "An entry starts where the one before it ends."
      },
      {
        id: "segment-offset",
        find: "return this.#offset + this.start(entry)",
        put: "return this.start(entry)",
        why: "Bytes are counted over the whole ring."
      },
      {
        id: "segment-id",
        find: "eventIdFromBytes(this.#ids, 16 * (entry - this.first))",
        put: "eventIdFromBytes(this.#ids, 16 * entry)",
        why: "An entry's id is counted from its segment's first entry."
      },
      {
        id: "segment-is-after",
        find: "if (difference !== 0) return difference > 0",
        put: "if (difference !== 0) return difference < 0",
        why: "An id is after a smaller one."
      },
      {
        id: "segment-is-after-equal",
        find: "return difference > 0\n    }\n    return false",
        put: "return difference > 0\n    }\n    return true",
        why: "An id is not after itself."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/ring/RingFilter.ts",
    tests: [
      "packages/core/test/events/ring/EventRing.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts"
    ],
    faults: [
      {
        id: "filter-broker-type",
        find: "new Set([...types, brokerType])",
        put: "new Set(types)",
        why: "No filter of types hides that an event is missing."
      },
      {
        id: "filter-whole",
        find: "this.project === anyProject && this.#types === null",
        put: "this.project === anyProject",
        why: "A stream of some types does not get the others."
      },
      {
        id: "filter-hidden",
        find: "if (type === hidden) return false",
        put: "if (type === hidden) return true",
        why: "Internal events pass no filter."
      },
      {
        id: "filter-project",
        find: "if (this.project !== anyProject && this.project !== project) return false",
        put: "if (this.project === anyProject && this.project !== project) return false",
        why: "A project's stream has that project's events only."
      },
      {
        id: "filter-types",
        find: "return this.#types === null || this.#types.has",
        put: "return this.#types === null || !this.#types.has",
        why: "A stream of some types gets those types."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/TimerWheel.ts",
    tests: [
      "packages/core/test/events/streams/TimerWheel.jumps.test.ts",
      "packages/core/test/events/streams/TimerWheel.test.ts"
    ],
    faults: [
      {
        id: "wheel-early",
        find: "Math.ceil(at / this.#width)",
        put: "Math.floor(at / this.#width)",
        why: "Nothing is due before its time."
      },
      {
        id: "wheel-past",
        find: "Math.max(Math.ceil(at / this.#width), this.#done + 1)",
        put: "Math.ceil(at / this.#width)",
        why: "An item of the past is due at the next look."
      },
      {
        id: "wheel-jump",
        find: "filter((bucket) => bucket <= current)",
        put: "filter((bucket) => bucket < current)",
        why: "After a jump of the clock everything due is found."
      },
      {
        id: "wheel-jump-future",
        find: "[...this.#buckets.keys()].filter((bucket) => bucket <= current)",
        put: "[...this.#buckets.keys()]",
        why: "After a jump of the clock nothing is found early."
      },
      {
        id: "wheel-twice",
        find: "      this.#buckets.delete(bucket)\n",
        put: "",
        why: "An item is due once."
      },
      {
        id: "wheel-last-bucket",
        find: "Math.max(0, current - this.#done) }, (_, index) => this.#done + 1 + index)",
        put: "Math.max(0, current - this.#done) }, (_, index) => this.#done + index)",
        why: "The bucket of the present is looked at."
      }
    ]
  }
]
