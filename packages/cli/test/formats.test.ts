/** Every command that reads: its forms of output, and its failures. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Yaml } from "effect/encoding"
import { onControlPlane } from "./support/onControlPlane.ts"

const ofProject = [
  ["branch", "list"],
  ["branch", "get", "main"],
  ["endpoint", "list"],
  ["endpoint", "get"],
  ["operation", "list"],
  ["credential", "list"],
  ["events", "history"],
  ["ip-allow", "list"],
  ["ip-allow", "check", "203.0.113.7"]
]

const ofOrganization = [
  ["project", "list"],
  ["region", "list"],
  ["org", "list"],
  ["org", "get"],
  ["org", "usage"],
  ["member", "list"],
  ["invitation", "list"],
  ["invitation", "list", "--sent"],
  ["api-key", "list"],
  ["api-key", "get", "cli"]
]

/** Each call uses the key, and later than the one before. */
const unused = (text: string) => text.replaceAll(/(last_used_at"?: )"[^"]*"/g, '$1"-"')

const onShop = Effect.gen(function* () {
  const world = yield* onControlPlane
  yield* world.run(["project", "create", "shop", "--wait"])
  yield* world.run(["ip-allow", "add", "203.0.113.0/24", "--project", "shop"])
  yield* world.run(["credential", "create", "--project", "shop"])
  return world
})

describe("a command that reads", () => {
  it.live("a command that reads has the same answer as JSON and as YAML, and a table", () =>
    Effect.gen(function* () {
      const { run } = yield* onShop
      const named = ofProject.map((args) => [...args, "--project", "shop"])
      for (const args of [...named, ["project", "get", "shop"], ...ofOrganization]) {
        const json = yield* run([...args, "-o", "json"])
        assert.deepStrictEqual([json.code, json.stderr], [0, ""], args.join(" "))
        const yaml = yield* run([...args, "-o", "yaml"])
        assert.deepStrictEqual(Yaml.parse(unused(yaml.stdout)), JSON.parse(unused(json.stdout)), args.join(" "))
        const table = yield* run(args)
        assert.strictEqual(table.code, 0, args.join(" "))
        // An empty list is a sentence on standard error.
        assert.notStrictEqual(table.stdout === "", table.stderr === "", args.join(" "))
      }
    }).pipe(Effect.scoped)
  )

  it.live("--json without a value is invalid usage that names the fields of the response", () =>
    Effect.gen(function* () {
      const { run } = yield* onShop
      const named = ofProject.filter(([kind]) => kind !== "events").map((args) => [...args, "--project", "shop"])
      for (const args of [...named, ["project", "get", "shop"], ["whoami"], ...ofOrganization]) {
        const { code, stderr, stdout } = yield* run([...args, "--json"])
        assert.deepStrictEqual([code, stdout], [2, ""], args.join(" "))
        const fields = / has ([a-z_, ]+)\.\n/.exec(stderr)?.[1]?.split(", ") ?? []
        const chosen = yield* run([...args, "--json", fields.join(",")])
        assert.deepStrictEqual([chosen.code, fields.length > 0], [0, true], args.join(" "))
        const found: unknown = JSON.parse(chosen.stdout)
        const [first] = Array.isArray(found) ? found : [found]
        const whole = yield* run([...args, "--jq", Array.isArray(found) ? "[.[] | arrays][0][0]" : "."])
        // The command line adds members to these two.
        if (first === undefined || args[0] === "org" || args[0] === "whoami") continue
        for (const field of Object.keys(JSON.parse(whole.stdout))) assert.include(fields, field, args.join(" "))
      }
    }).pipe(Effect.scoped)
  )

  it.live("a command of an unknown project fails with nothing on stdout, as text and as one line of JSON", () =>
    Effect.gen(function* () {
      const { run } = yield* onControlPlane
      for (const args of ofProject) {
        const text = yield* run([...args, "--project", "nope"])
        assert.deepStrictEqual([text.code, text.stdout], [1, ""], args.join(" "))
        assert.match(text.stderr, /^error: There is no project "nope"\.\n {2}hint: narthex project list\n$/)
        const json = yield* run([...args, "--project", "nope", "-o", "json"])
        assert.deepStrictEqual([json.code, json.stdout], [1, ""], args.join(" "))
        assert.strictEqual(JSON.parse(json.stderr).detail, 'There is no project "nope".')
      }
    }).pipe(Effect.scoped)
  )

  it.live("a command with a revoked key exits with 4", () =>
    Effect.gen(function* () {
      const { client, key, run } = yield* onShop
      yield* Effect.promise(() => client.apiKeys.revoke({ api_key_id: key.api_key.id }))
      for (const args of [...ofProject.map((args) => [...args, "--project", "shop"]), ...ofOrganization]) {
        const { code, stdout } = yield* run(args)
        assert.deepStrictEqual([code, stdout], [4, ""], args.join(" "))
      }
    }).pipe(Effect.scoped)
  )
})
