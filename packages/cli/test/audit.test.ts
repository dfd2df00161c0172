/** `narthex audit list` on a control plane in memory. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { withShop } from "./support/signedIn.ts"

const json = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout)

describe("audit list", () => {
  it.live("audit list prints the acts of the organization, the newest first", () =>
    Effect.gen(function* () {
      const { run, shop } = yield* withShop()
      const { code, stdout } = yield* run(["audit", "list"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^AT +ACTION +OUTCOME +ACTOR +TARGET +FROM\n/)
      assert.match(stdout, /\n\d{4}-\S+Z +project\.created +done +ada@example\.com +\S+ +\S+\n/)
      const { entries } = json(yield* run(["audit", "list", "--target", shop, "-o", "json"]))
      assert.include(entries.at(-1).targets[0].id, shop)
    }).pipe(Effect.scoped)
  )

  it.live("audit list takes an actor by address, and filters by act, outcome and time", () =>
    Effect.gen(function* () {
      const { run } = yield* withShop()
      const count = (...filter: ReadonlyArray<string>) =>
        Effect.map(run(["audit", "list", "-o", "json", ...filter]), (it) => json(it).entries.length)
      assert.isAbove(yield* count("--actor", "Ada@example.com"), 0)
      assert.strictEqual(yield* count("--action", "project.created", "--outcome", "done", "--from", "2001-01-01"), 1)
      assert.strictEqual(yield* count("--until", "2001-01-01T00:00:00Z"), 0)
      const unknown = yield* run(["audit", "list", "--actor", "eve@example.com"])
      assert.deepStrictEqual([unknown.code, unknown.stdout], [1, ""])
      for (const wrong of [
        ["--outcome", "maybe"],
        ["--from", "yesterday"]
      ])
        assert.strictEqual((yield* run(["audit", "list", ...wrong])).code, 2, wrong.join(" "))
    }).pipe(Effect.scoped)
  )

  it.live("audit list prints CSV and JSON lines, and says on standard error that there is more", () =>
    Effect.gen(function* () {
      const { run } = yield* withShop()
      const csv = yield* run(["audit", "list", "--format", "csv", "--limit", "2"])
      const lines = csv.stdout.split("\r\n")
      assert.deepStrictEqual([lines.length, lines.at(-1)], [4, ""])
      assert.match(lines[0] ?? "", /^occurred_at,action,outcome,/)
      assert.match(csv.stderr, /There are more: --limit, or --cursor \S+\n/)
      const jsonl = yield* run(["audit", "list", "--format", "jsonl"])
      const [first] = jsonl.stdout.split("\n")
      assert.strictEqual(JSON.parse(first ?? "").version, 1)
      const none = yield* run(["audit", "list", "--format", "jsonl", "--action", "nothing"])
      assert.deepStrictEqual([none.code, none.stdout], [0, ""])
    }).pipe(Effect.scoped)
  )
})
