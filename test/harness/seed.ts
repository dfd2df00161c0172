/**
 * Every random choice of a test comes from the seed of the run through `Math.random`, which `setup.ts` seeds for each
 * test with that seed and the test's name. So a test makes the same choices whatever ran before it, and
 * `NARTHEX_TEST_SEED=<seed>` repeats them. Effect's `Random` and its property tests draw from `Math.random` too.
 *
 * Pitfall: `randomBytes` for the inputs of a test. It cannot be seeded; use `bytes` of this file. Secrets and names may
 * use it.
 */
import { createHash } from "node:crypto"

/** sfc32 by Chris Doty-Humphrey, seeded with a digest of the text. */
export const randomFrom = (text: string): (() => number) => {
  const digest = createHash("sha256").update(text).digest()
  let [a, b, c, d] = [digest.readInt32LE(0), digest.readInt32LE(4), digest.readInt32LE(8), digest.readInt32LE(12)]
  return () => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 4_294_967_296
  }
}

/** Random bytes. */
export const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => Math.random() * 256))

/** The requested seed, else a new one of up to nine digits. */
export const chosenSeed = (): string => process.env["NARTHEX_TEST_SEED"] ?? String(Math.floor(Math.random() * 1e9))
