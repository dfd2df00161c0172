/** The key under which the secrets of the test are sealed: the same in every process. */
import { Redacted } from "effect"

export const sealingKey = Redacted.make(new Uint8Array(32).fill(7))
