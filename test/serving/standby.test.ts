/**
 * Two runners of one directory of computes: one works, the other waits and takes over.
 * Holds docs/design/operations.md O20.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../harness/eventually.ts"
import { endProcessesIn } from "../support/processesIn.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { ask, signIn } from "./support/ask.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => emptyDirectory(ownAccount)),
  (it) => Effect.promise(() => endProcessesIn(it.path).finally(it.remove)) // computes outlive their runner
)

layer(Serving.layer, { excludeTestServices: true })("a second runner of a directory of computes", (it) => {
  it.effect("a standby waits while another runner works, and takes over when that one is killed", () =>
    Effect.gen(function* () {
      const { environment, issuer } = yield* Serving
      const data = yield* directory
      const runner = {
        ...environment,
        NARTHEX_COMPUTE: "local",
        NARTHEX_COMPUTE_SHARED_ACCOUNT: "accept",
        NARTHEX_DATA_DIR: data.path
      }
      const standby = { ...runner, NARTHEX_COMPUTE_STANDBY: "40 seconds" }
      const first = yield* Program.start("server", ["--roles", "api,runner"], standby)

      const alone = yield* run("server", ["--roles", "runner"], runner)
      assert.strictEqual(alone.code, 1, "without the setting it does not wait")
      const second = yield* Program.launch("server", ["--roles", "api,runner"], standby)
      yield* eventually(
        "the second runner to wait",
        Effect.sync(() => second.log().includes("Waiting as its standby"))
      )
      assert.strictEqual(second.output(), "", "it is not up")

      first.kill()
      const url = (yield* Effect.promise(second.up)).address("api")
      const { token } = yield* signIn(url, issuer.idToken("ada@example.com"))
      const { body } = yield* ask(url, "POST", "/v1/projects", token, { name: "first" })
      const operations = `/v1/projects/${body.project.id}/operations`
      yield* eventually(
        "the standby to create the branch",
        Effect.map(ask(url, "GET", operations, token), (answer) =>
          answer.body.operations.every(({ status }: { readonly status: string }) => status === "finished")
        )
      )
    })
  )
})
