/** `--jq`: the expression on answers, its mistakes, and its end (docs/design/cli.md C10). */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../../../test/harness/eventually.ts"
import { toLog } from "../../../test/harness/toLog.ts"
import { onControlPlane } from "./support/onControlPlane.ts"
import { signedIn } from "./support/signedIn.ts"

/** Characters that control a terminal: control characters but the line feed, and an override of the direction of text. */
const controlling = /[^\P{Cc}\n]|\u202e/u

describe("--jq", () => {
  it.live("a command with --jq prints strings without quotes and other values in one line each", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const lines = yield* run(["region", "list", "--jq", ".regions[0] | .region_id, {region_id}, 1"])
      assert.deepStrictEqual(lines, { code: 0, stdout: 'eu\n{"region_id":"eu"}\n1\n', stderr: "" })
      const blank = yield* run(["region", "list", "--jq", '"", "  a ", "é\\t", "x\\ny", "", 12345678901234567890'])
      assert.strictEqual(blank.stdout, "\n  a \n\u00e9\t\nx\ny\n\n12345678901234567890\n")
      const nothing = yield* run(["region", "list", "--jq", "empty"])
      assert.deepStrictEqual(nothing, { code: 0, stdout: "", stderr: "" })
    }).pipe(Effect.scoped)
  )

  it.live(
    "on a terminal no answer controls it: jq's strings, JSON and raw responses are escaped; a pipe gets them",
    () =>
      Effect.gen(function* () {
        const { plane, run } = yield* signedIn
        const hostile = "\u001b[2Jred\u009b0m\u202e\tend\nnext"
        plane.instead = () => Response.json({ text: hostile })
        const call = ["api", "GET", "/v1/regions"]
        const strings = [...call, "--jq", ".text"]
        assert.strictEqual((yield* run(strings)).stdout, `${hostile}\n`)
        const shown = "\\u001b[2Jred\\u009b0m\\u202e\tend\nnext\n"
        assert.strictEqual((yield* run(strings, { terminal: true })).stdout, shown)
        for (const format of [[], ["-o", "json"], ["--jq", "."], ["--json", "text"]]) {
          const [piped, seen] = [yield* run([...call, ...format]), yield* run([...call, ...format], { terminal: true })]
          assert.include(piped.stdout, "\u009b", format.join(" "))
          assert.deepStrictEqual(JSON.parse(seen.stdout), { text: hostile }, "the same JSON")
          assert.notMatch(seen.stdout, controlling, format.join(" "))
        }
        plane.instead = () => new Response(hostile.replace("\t", " "), { headers: { "content-type": "text/plain" } })
        assert.include((yield* run(call)).stdout, "\u009b0m")
        assert.notMatch((yield* run(call, { terminal: true })).stdout, controlling)
      }).pipe(Effect.scoped)
  )

  it.live("an expression of --jq gets what --json chose, in any format", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const chosen = yield* run(["region", "list", "--json", "region_id", "--jq", "map(keys)"])
      assert.deepStrictEqual(chosen, { code: 0, stdout: '[["region_id"]]\n', stderr: "" })
      const yaml = yield* run(["region", "list", "-o", "yaml", "--jq", ".regions | length"])
      assert.deepStrictEqual(yaml, { code: 0, stdout: "1\n", stderr: "" })
      const raw = yield* run(["api", "GET", "/v1/regions", "--jq", ".regions[].region_id"])
      assert.deepStrictEqual(raw, { code: 0, stdout: "eu\n", stderr: "" })
      const page = yield* run(["api", "GET", "/v1/events", "--jq", "."])
      assert.deepStrictEqual([page.code, page.stdout], [1, ""])
      assert.match(page.stderr, /it is not JSON/)
      const version = yield* run(["version", "--jq", ".version | type"])
      assert.deepStrictEqual(version, { code: 0, stdout: "string\n", stderr: "" })
    }).pipe(Effect.scoped)
  )

  it.live("an expression that does not compile is invalid usage, and nothing is changed", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      const wrong = yield* run(["project", "create", "shop", "--jq", ".project | nope"])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""])
      assert.deepInclude(JSON.parse(wrong.stderr), { code: "usage" })
      assert.match(wrong.stderr, /--jq cannot be .* Expected an expression of jq: nope\/0 is not defined/)
      const { stdout } = yield* run(["project", "list", "--jq", ".projects | length"])
      assert.strictEqual(stdout, "0\n")
    }).pipe(Effect.scoped)
  )

  it.live("an expression that does not fit the answer fails, and says that the call is made", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      const unfit = yield* run(["project", "create", "shop", "--jq", ".project.name.first"])
      assert.deepStrictEqual([unfit.code, unfit.stdout], [1, ""])
      const said = JSON.parse(unfit.stderr.trim().split("\n").at(-1) ?? "")
      assert.strictEqual(said.code, "not_filtered")
      assert.match(said.detail, /Cannot index string with string/)
      assert.match(said.hint, /the call is made/)
      const { stdout } = yield* run(["project", "list", "--jq", ".projects[].name"])
      assert.strictEqual(stdout, "shop\n")
    }).pipe(Effect.scoped)
  )

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "%s ends an endless expression, although the program listens to it",
    {
      timeout: 60_000
    },
    async (signal) => {
      const program = `
      import { Effect } from "effect"
      import { compile } from "./src/output/JqFilter.ts"
      process.on("${signal}", () => {})
      const filter = await Effect.runPromise(compile("last(repeat(.))"))
      console.log("ready")
      setImmediate(() => Effect.runSync(filter("1")))
    `
      const args = ["--conditions=source", "--input-type=module", "-e", program]
      const child = spawn(process.execPath, args, {
        cwd: `${import.meta.dirname}/..`,
        stdio: ["ignore", "pipe", "pipe"]
      })
      toLog(child.stderr)
      try {
        await once(createInterface({ input: child.stdout }), "line")
        // A signal before the expression runs reaches the listener; one of the next ends the program.
        await until("the program to end", async () => child.signalCode !== null || !child.kill(signal))
        assert.strictEqual(child.signalCode, signal)
      } finally {
        child.kill("SIGKILL")
      }
    }
  )
})
