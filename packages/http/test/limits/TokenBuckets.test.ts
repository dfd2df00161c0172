/** The buckets in which an instance counts calls: how they fill, and that they are forgotten. */
import { assert, describe, it } from "@effect/vitest"
import { TokenBuckets } from "../../src/limits/TokenBuckets.ts"

const second = 1_000

/** How many of these calls pass at one instant. */
const passing = (buckets: TokenBuckets, count: number, now: number) =>
  Array.from({ length: count }, () => buckets.take("key", now)).filter(({ wait }) => wait === 0).length

describe("TokenBuckets", () => {
  it("a full bucket lets its burst through, and then calls at the rate", () => {
    const buckets = new TokenBuckets({ per_second: 4, burst: 10 })
    assert.strictEqual(passing(buckets, 20, 0), 10)
    assert.strictEqual(passing(buckets, 20, second), 4)
    assert.strictEqual(passing(buckets, 20, 100 * second), 10)
  })

  it("a refusal says when the next token comes, and takes none", () => {
    const buckets = new TokenBuckets({ per_second: 4, burst: 2 })
    assert.deepStrictEqual(
      [0, 0, 0, 100, 250].map((now) => buckets.take("key", now)),
      [
        { wait: 0, remaining: 1 },
        { wait: 0, remaining: 0 },
        { wait: 250, remaining: 0 },
        { wait: 150, remaining: 0 },
        { wait: 0, remaining: 0 }
      ]
    )
  })

  it("a clock that is set back delays no key by more than its bucket", () => {
    const buckets = new TokenBuckets({ per_second: 1, burst: 5 })
    passing(buckets, 5, 3_600 * second)
    assert.isAtMost(buckets.take("key", 0).wait, second)
  })

  it("a rate below one in a second lets a call through after its pause", () => {
    const buckets = new TokenBuckets({ per_second: 0.1, burst: 1 })
    assert.deepStrictEqual(
      [passing(buckets, 2, 0), passing(buckets, 2, 9 * second), passing(buckets, 2, 10 * second)],
      [1, 0, 1]
    )
  })
})
