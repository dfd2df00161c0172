import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { isNewer } from "../src/connection/LatestVersion.ts"
import { version } from "../src/environment/version.ts"
import { signedIn } from "./support/signedIn.ts"

const notice = `narthex 99.0.0 is available; this is ${version}. To update: npm install --global @narthex/cli@latest\n`

/** Answers of a server that knows this newest version of the command line. */
const naming = (latest: string) => () => Response.json({ regions: [] }, { headers: { "narthex-cli-latest": latest } })

describe("update notice", () => {
  it.effect("the update notice is one line on stderr of a terminal, once a day", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = naming("99.0.0")
      yield* TestClock.setTime(Date.parse("2026-11-20T10:00:00Z"))
      const list = Effect.map(run(["region", "list", "-o", "json"], { terminal: true }), ({ stderr }) => stderr)
      assert.strictEqual(yield* list, notice)
      assert.strictEqual(yield* list, "")
      yield* TestClock.adjust("23 hours")
      assert.strictEqual(yield* list, "")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* list, notice)
    }).pipe(Effect.scoped)
  )

  it.live("there is no update notice in pipes, in CI, if disabled, or for a version that is not newer", () =>
    Effect.gen(function* () {
      const { plane, run, setting } = yield* signedIn
      plane.instead = naming("99.0.0")
      assert.strictEqual((yield* run(["region", "list", "-o", "json"])).stderr, "")
      for (const name of ["CI", "NARTHEX_NO_UPDATE_NOTIFIER", "NO_UPDATE_NOTIFIER"]) {
        const variables = { ...setting.variables, [name]: "1" }
        assert.strictEqual((yield* run(["region", "list", "-o", "json"], { terminal: true, variables })).stderr, "")
      }
      plane.instead = naming(version)
      assert.strictEqual((yield* run(["region", "list", "-o", "json"], { terminal: true })).stderr, "")
    }).pipe(Effect.scoped)
  )

  it("isNewer compares the numbers of releases, and rejects anything else", () => {
    assert.isTrue(isNewer("0.10.0", "0.9.9"))
    assert.isTrue(isNewer("1.0.0", "0.99.99"))
    for (const latest of ["0.9.9", "0.9.8", "0.8.10", "", "latest", "1.0.0-rc.1", "\u001b[31m9.9.9"])
      assert.isFalse(isNewer(latest, "0.9.9"), latest)
  })
})
