import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Yaml } from "effect/encoding"
import { problem } from "../../../test/support/HostedPlane.ts"
import { signedIn, signedInOn } from "./support/signedIn.ts"

describe("whoami", () => {
  it.live("whoami prints the user, the organization, the key and the source of the credential", () =>
    Effect.gen(function* () {
      const { file, key, plane, run } = yield* signedIn
      const { code, stdout } = yield* run(["whoami"])
      assert.strictEqual(code, 0)
      for (const part of [
        "ada@example.com",
        "Acme",
        "owner",
        "read_write",
        key.id,
        plane.url,
        `context default in ${file}`
      ])
        assert.include(stdout, part)
    }).pipe(Effect.scoped)
  )

  it.live("whoami prints the whole body, unknown members included, and the source, as JSON and as YAML", () =>
    Effect.gen(function* () {
      const { addKey, plane, run, setting } = yield* signedIn
      plane.edit("/v1/auth/whoami", (body: object) => ({ ...body, later_member: "kept" }))
      const json = JSON.parse((yield* run(["-o", "json", "whoami"])).stdout)
      assert.strictEqual(json.later_member, "kept")
      assert.strictEqual(json.credential.context, "default")
      assert.strictEqual(json.api_url, plane.url)
      assert.deepStrictEqual(Yaml.parse((yield* run(["whoami", "--output=yaml"])).stdout), json)
      const ci = yield* Effect.promise(() => addKey())
      const variables = { ...setting.variables, NARTHEX_API_KEY: ci.secret }
      const fromEnvironment = JSON.parse((yield* run(["whoami", "-o", "json"], { variables })).stdout)
      assert.deepStrictEqual(fromEnvironment.credential, { source: "environment", variable: "NARTHEX_API_KEY" })
    }).pipe(Effect.scoped)
  )

  it.live("NARTHEX_API_KEY in quotation marks is refused with a sentence that says so", () =>
    Effect.gen(function* () {
      const { run, setting } = yield* signedIn
      for (const NARTHEX_API_KEY of ['"nsk_a"', "'nsk_a'"]) {
        const { code, stderr } = yield* run(["whoami"], { variables: { ...setting.variables, NARTHEX_API_KEY } })
        assert.strictEqual(code, 2)
        assert.include(stderr, "NARTHEX_API_KEY begins and ends with a quotation mark")
        assert.notInclude(stderr, "nsk_a")
      }
    }).pipe(Effect.scoped)
  )

  it.live("NARTHEX_API_KEY_FILE is read, and refused if a header cannot contain it", () =>
    Effect.gen(function* () {
      const { addKey, run, setting } = yield* signedIn
      const ci = yield* Effect.promise(() => addKey())
      const path = join(setting.home, "key.txt")
      const variables = { ...setting.variables, NARTHEX_API_KEY_FILE: path }
      writeFileSync(path, `${ci.secret}\n`)
      assert.include((yield* run(["whoami"], { variables })).stdout, ci.id)
      writeFileSync(path, `${ci.secret}\n${ci.secret}\n`)
      const { code, stderr } = yield* run(["whoami"], { variables })
      assert.strictEqual(code, 2)
      assert.notInclude(stderr, ci.secret)
    }).pipe(Effect.scoped)
  )

  it.live("a rejected key stays stored, and the command exits with 4", () =>
    Effect.gen(function* () {
      const { client, key, run, stored } = yield* signedIn
      yield* Effect.promise(() => client.apiKeys.revoke({ api_key_id: key.id }))
      const { code, stderr, stdout } = yield* run(["whoami"])
      assert.deepStrictEqual([code, stdout], [4, ""])
      assert.match(
        stderr,
        /^error: The credential is not valid\. .*\n {2}hint: narthex login, or set NARTHEX_API_KEY to another key\n {2}code: invalid_token · request: \S+\n$/
      )
      assert.strictEqual(stored().contexts.default.secret, key.secret)
    }).pipe(Effect.scoped)
  )

  it.live("without a login a command exits with 4, and prints one line of JSON with -o json", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      yield* run(["logout"])
      plane.requests.length = 0
      const { code, stderr } = yield* run(["whoami", "-o", "json"])
      assert.strictEqual(code, 4)
      assert.deepStrictEqual(JSON.parse(stderr), {
        code: "not_signed_in",
        detail: "You are not signed in.",
        hint: "narthex login, or set NARTHEX_API_KEY"
      })
      assert.deepStrictEqual(plane.requests, [])
    }).pipe(Effect.scoped)
  )
})

describe("project", () => {
  it.live("project list reads every page", () =>
    Effect.gen(function* () {
      const { client, plane, run } = yield* signedIn
      for (const name of ["a", "b", "c", "d", "e"]) yield* Effect.promise(() => client.projects.create({ name }))
      // Pages of two.
      plane.instead = ({ query }) => {
        query.set("limit", "2")
        return undefined
      }
      const json = JSON.parse((yield* run(["project", "list", "-o", "json"])).stdout)
      assert.deepStrictEqual(
        json.projects.map(({ name }: { name: string }) => name),
        ["e", "d", "c", "b", "a"]
      )
      assert.strictEqual(plane.requests.length, 3)
      assert.deepStrictEqual(json.pagination, { next_cursor: null })
      const table = (yield* run(["project", "list"])).stdout
      assert.match(table, /^ID +NAME {2}REGION {2}CREATED\nprj-\w+ {2}e {5}eu {6}\d{4}-/)
    }).pipe(Effect.scoped)
  )

  it.live("an empty project list is a sentence on stderr, and stdout stays empty", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { code, stderr, stdout } = yield* run(["project", "list"])
      assert.deepStrictEqual([code, stdout], [0, ""])
      assert.match(stderr, /^There are no projects\./)
    }).pipe(Effect.scoped)
  )

  it.live("project create prints the body of the response", () =>
    Effect.gen(function* () {
      const { client, run } = yield* signedIn
      const { code, stdout } = yield* run(["project", "create", "shop", "--region", "eu", "-o", "json"])
      assert.strictEqual(code, 0)
      const { projects } = yield* Effect.promise(() => client.projects.list({}))
      assert.deepStrictEqual(
        [JSON.parse(stdout).project.id],
        projects.map(({ id }) => id)
      )
      assert.match((yield* run(["project", "create", "shop", "--region", "eu"])).stdout, /\bep-\w{26}\b/)
    }).pipe(Effect.scoped)
  )

  it.live("project create is repeated with its idempotency key while the API is unavailable", () =>
    Effect.gen(function* () {
      const { client, plane, run } = yield* signedIn
      plane.instead = () => {
        plane.instead = undefined
        return problem("unavailable")
      }
      const { code } = yield* run(["project", "create", "shop", "--region", "eu"])
      const [first, second, ...others] = plane.requests.filter(({ method }) => method === "POST")
      const { projects } = yield* Effect.promise(() => client.projects.list({}))
      assert.deepStrictEqual([code, projects.length, others.length], [0, 1, 0])
      assert.match(String(first?.headers["idempotency-key"]), /^[0-9a-f]{32}$/)
      assert.strictEqual(second?.headers["idempotency-key"], first?.headers["idempotency-key"])
    }).pipe(Effect.scoped)
  )

  it.live("project create without a required region prints how to pass one", () =>
    Effect.gen(function* () {
      const { run } = yield* signedInOn({ regions: ["eu", "us"] })
      const { code, stderr, stdout } = yield* run(["project", "create", "shop"])
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: Name a region: eu, us\.\n {2}hint: narthex region list, then --region/)
    }).pipe(Effect.scoped)
  )

  it.live("a failure with -o json is the problem object on one line", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = () => problem("region_required", "Name a region: eu, us.")
      const { stderr } = yield* run(["project", "create", "shop", "-o", "json"])
      const sent = yield* Effect.promise(() => problem("region_required", "Name a region: eu, us.").json())
      assert.deepStrictEqual(JSON.parse(stderr.trimEnd()), sent)
    }).pipe(Effect.scoped)
  )

  it.live("a command prints that the API cannot be reached", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      yield* Effect.promise(() => plane.close())
      const { code, stderr } = yield* run(["project", "list"])
      assert.strictEqual(code, 1)
      assert.strictEqual(
        stderr,
        `error: The API at ${plane.url} cannot be reached.\n  hint: check that the server is running and that NARTHEX_URL is correct\n`
      )
    }).pipe(Effect.scoped)
  )

  it.live("a command prints that a response cannot be decoded", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = () => Response.json({ projects: "none" })
      const { code, stderr } = yield* run(["project", "list"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /^error: The server's response is not what this version of narthex expects\./)
    }).pipe(Effect.scoped)
  )
})

describe("region list", () => {
  it.live("region list prints the regions", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      assert.strictEqual(
        (yield* run(["region", "list"])).stdout,
        "REGION  NAME  DEFAULT  LOCATION\neu      eu    yes      -\n"
      )
    }).pipe(Effect.scoped)
  )
})
