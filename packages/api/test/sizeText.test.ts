import { assert, it } from "@effect/vitest"
import { sizeText } from "@narthex/api"

it("a size is in the largest unit that fits, with one decimal, and bytes have none", () => {
  assert.deepStrictEqual([0, 999, 1000, 33_200_000, 999_960, 2 ** 40, 2 ** 53].map(sizeText), [
    "0 B",
    "999 B",
    "1.0 kB",
    "33.2 MB",
    "1.0 MB",
    "1.1 TB",
    "9.0 PB"
  ])
})
