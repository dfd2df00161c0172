/** Operator commands: what they print, how they end, and what the running platform makes of them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { ask, signIn } from "./support/ask.ts"
import { operate } from "./support/operate.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

/** The cells of each line of a table. */
const cells = (lines: ReadonlyArray<string>) => lines.map((line) => line.trimEnd().split(/ {2,}/))

/** Before any instance has served: the store is empty. */
layer(Serving.layer, { excludeTestServices: true })("an operator command as a process", (it) => {
  it.effect("`migrate` migrates an empty database once, and does nothing when it is repeated", () =>
    Effect.gen(function* () {
      const { database, environment } = yield* Serving
      const first = yield* run("server", ["migrate"], environment)
      assert.strictEqual(first.code, 0, first.stderr)
      assert.match(first.stdout, /^Applied \d+ migrations\.\n$/)
      assert.match(first.stderr, /Database ready \(\d+ migrations\)/)
      const record = Effect.flatMap(PostgresServer, ({ admin }) => admin("select * from narthex_migration", database))
      const recorded = yield* record
      const { code, lines } = yield* operate(environment, "migrate")
      assert.deepStrictEqual([code, lines], [0, ["The database is up to date."]])
      assert.deepStrictEqual(yield* record, recorded)
    })
  )

  it.effect("an operator command that is refused exits with 1 and one sentence on stderr", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { code, stderr, stdout } = yield* run("server", ["regions", "default", "eu-typo"], environment)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: There is no region "eu-typo"\.[^\n]*\n$/)
    })
  )

  it.effect("an operator command with invalid settings names every mistake and does not touch the store", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const wrong = { ...environment, NARTHEX_API_PORT: "many", NARTHEX_MASTER_SECRET: "short" }
      const { code, lines, refusal } = yield* operate(wrong, "regions", "list")
      assert.deepStrictEqual([code, lines], [1, []])
      assert.include(refusal, "NARTHEX_API_PORT")
      assert.include(refusal, "NARTHEX_MASTER_SECRET")
    })
  )

  it.effect("narthex-server lists its commands in the help, and flags that are of use", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const help = yield* operate(environment, "--help")
      assert.strictEqual(help.code, 0)
      const section = (head: string) =>
        help.lines
          .slice(help.lines.indexOf(head) + 1)
          .join("\n")
          .split("\n\n")[0]
          ?.match(/^ {2}(?:-\w, | {4})?[\w-]+/gm)
          ?.map((term) => term.trim().replace(/^-\w, /, ""))
      assert.deepStrictEqual(section("COMMANDS"), [
        "accounts",
        "regions",
        "quotas",
        "audit",
        "keys",
        "settings",
        "doctor",
        "migrate"
      ])
      assert.deepStrictEqual(section("GLOBAL FLAGS"), ["--help", "--version", "--log-level"])
    })
  )

  it.effect("a command or flag that narthex-server does not have is a usage error on stderr, with a suggestion", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      for (const [program, args, stderr] of [
        [
          "server",
          ["region", "list"],
          'error: narthex-server has no command "region".\n  hint: did you mean regions? narthex-server --help shows the usage\n'
        ],
        [
          "server",
          ["accounts", "list", "--limits", "3"],
          "error: narthex-server accounts list has no flag --limits.\n  hint: did you mean --limit? narthex-server accounts list --help shows the usage\n"
        ],
        ["proxy", ["serve"], 'error: Unexpected argument: "serve".\n  hint: narthex-proxy --help shows the usage\n']
      ] as const)
        assert.deepStrictEqual(yield* run(program, args, environment), { code: 2, stdout: "", stderr })
    })
  )

  it.effect("a list without rows prints nothing on stdout, and a sentence on stderr", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { code, lines, notes } = yield* operate(environment, "accounts", "list")
      assert.deepStrictEqual([code, lines, notes], [0, [], ["No accounts."]])
    })
  )
})

layer(Serving.layer, { excludeTestServices: true })("quotas", (it) => {
  const operated = (...args: ReadonlyArray<string>) =>
    Effect.flatMap(Serving, ({ environment }) => operate(environment, "quotas", ...args))
  const stored = Effect.gen(function* () {
    const { database } = yield* Serving
    return yield* (yield* PostgresServer).admin(
      "select org_id, quota, allowed::text from narthex.quota_override",
      database
    )
  })

  it.effect("`quotas set` gives an organization a number of its own, and `default` takes it away", () =>
    Effect.gen(function* () {
      const { database, environment } = yield* Serving
      assert.strictEqual((yield* operate(environment, "migrate")).code, 0)
      const { admin } = yield* PostgresServer
      yield* admin("insert into narthex.organization values ('org-1', 'Team', false, now(), now())", database)
      const before = yield* operated("show", "org-1")
      assert.deepStrictEqual(cells(before.lines)[0], ["QUOTA", "HELD", "ALLOWED", "EXCEPTION"])
      assert.deepInclude(cells(before.lines), ["projects", "0", "100", "no"])
      const fewer = yield* operated("set", "org-1", "projects", "7")
      assert.deepInclude(cells(fewer.lines), ["projects", "0", "7", "yes"])
      const sized = yield* operated("set", "org-1", "disk_bytes", "3 TiB")
      assert.deepInclude(cells(sized.lines), ["disk_bytes", "0", String(3 * 1024 ** 4), "yes"])
      assert.deepStrictEqual((yield* operated("set", "org-1", "disk_bytes", "default")).code, 0)
      assert.deepStrictEqual(yield* stored, [{ org_id: "org-1", quota: "projects", allowed: "7" }])
      assert.deepStrictEqual((yield* operated("set", "org-1", "projects", "default")).lines, before.lines)
    })
  )

  it.effect("`quotas` refuses an unknown organization or quota and a malformed number, and changes nothing", () =>
    Effect.gen(function* () {
      for (const [args, sentence] of [
        [["show", "org-2"], 'There is no organization "org-2".'],
        [["set", "org-2", "projects", "7"], 'There is no organization "org-2".'],
        [["set", "org-1", "project", "7"], 'There is no quota "project".'],
        [["set", "org-1", "projects", "3 GiB"], '"3 GiB" is not a number for projects.'],
        [["set", "org-1", "projects", "many"], '"many" is not a number for projects.']
      ] as const) {
        const { code, refusal } = yield* operated(...args)
        assert.strictEqual(code, 1, args.join(" "))
        assert.include(refusal, sentence)
      }
      assert.deepStrictEqual(yield* stored, [])
    })
  )
})

layer(Serving.layer, { excludeTestServices: true })("regions", (it) => {
  const operated = (...args: ReadonlyArray<string>) =>
    Effect.flatMap(Serving, ({ environment }) => operate(environment, "regions", ...args))
  const list = Effect.map(operated("list"), ({ lines }) => cells(lines))
  /** No runner was ever seen, and there are no computes and no projects. */
  const unused = ["0", "never", "0", "0"]
  const severalRegions = "The store has several regions: set NARTHEX_REGION in every process of narthex-server."
  const factsOf = (id: string) =>
    Effect.gen(function* () {
      const { database } = yield* Serving
      const { admin } = yield* PostgresServer
      return (yield* admin(
        `select name, geo_lat, geo_long, location from narthex.region where region_id = '${id}'`,
        database
      ))[0]
    })

  it.effect("the first start adds the regions of the settings, the first one as the default", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const { lines } = yield* operate({ ...environment, NARTHEX_REGIONS: "local,near" }, "regions", "list")
      assert.deepStrictEqual(cells(lines), [
        ["REGION", "NAME", "STATE", "DEFAULT", "LOCATION", "RUNNERS", "LAST SEEN", "COMPUTES", "PROJECTS"],
        ["local", "local", "active", "yes", "-", ...unused],
        ["near", "near", "active", "no", "-", ...unused]
      ])
    })
  )

  it.effect("`regions add` adds a region, and changes only the given details of one that exists", () =>
    Effect.gen(function* () {
      const added = yield* operated(
        "add",
        "eu",
        "--name",
        "Europe",
        "--location",
        "Paris",
        "--lat",
        "48.9",
        "--long",
        "2.4"
      )
      assert.strictEqual(added.code, 0)
      assert.deepStrictEqual(added.lines, ["Region eu is active.", severalRegions])
      const before = { name: "Europe", geo_lat: 48.9, geo_long: 2.4, location: "Paris" }
      assert.deepStrictEqual(yield* factsOf("eu"), before)
      yield* operated("add", "eu")
      assert.deepStrictEqual(yield* factsOf("eu"), before)
      yield* operated("add", "eu", "--lat", "50")
      assert.deepStrictEqual(yield* factsOf("eu"), { ...before, geo_lat: 50 })
    })
  )

  it.effect("`regions add` refuses an id that cannot be a label of a host name", () =>
    Effect.gen(function* () {
      const before = yield* list
      for (const id of ["EU", "eu west", "-eu", "eu.west"]) {
        const { code, refusal } = yield* operated("add", "--name", "Europe", "--", id)
        assert.strictEqual(code, 1, id)
        assert.include(refusal, "lower-case letters, digits and dashes")
      }
      assert.deepStrictEqual(yield* list, before)
    })
  )

  it.effect("`regions default` makes another region the default", () =>
    Effect.gen(function* () {
      const { code, lines } = yield* operated("default", "eu")
      assert.deepStrictEqual([code, lines], [0, ["Region eu is the default."]])
      const { environment } = yield* Serving
      const [, entry] = (yield* operate(environment, "audit", "list", "--limit", "1")).lines
      assert.match(entry ?? "", /Z +region\.made_default +done +operator +eu +\S+$/)
      assert.deepStrictEqual((yield* list).slice(1), [
        ["local", "local", "active", "no", "-", ...unused],
        ["near", "near", "active", "no", "-", ...unused],
        ["eu", "Europe", "active", "yes", "Paris", ...unused]
      ])
    })
  )

  it.effect("`regions default` refuses an unknown and a retired region, and changes nothing", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* operated("retire", "near")).code, 0)
      const before = yield* list
      for (const [id, sentence] of [
        ["eu-typo", 'There is no region "eu-typo".'],
        ["near", 'Region "near" is retired.']
      ] as const) {
        const { code, lines, refusal } = yield* operated("default", id)
        assert.deepStrictEqual([code, lines], [1, []])
        assert.include(refusal, sentence)
        assert.deepStrictEqual(yield* list, before)
      }
    })
  )

  it.effect("`regions retire` may be repeated, and refuses an unknown region", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* operated("retire", "near")).lines, [
        "Region near is retired: it takes no new projects."
      ])
      const { code, refusal } = yield* operated("retire", "eu-typo")
      assert.strictEqual(code, 1)
      assert.include(refusal, 'There is no region "eu-typo".')
    })
  )

  it.effect("`regions add` adds a missing region with the settings of the instance that misses it", () =>
    Effect.gen(function* () {
      const environment = { ...(yield* Serving).environment, NARTHEX_REGION: "far" }
      const start = yield* run("server", ["--roles", "api"], environment)
      assert.strictEqual(start.code, 1)
      assert.include(start.stderr, "narthex-server regions add far")
      const { code, refusal } = yield* operate(environment, "regions", "add", "far")
      assert.strictEqual(code, 0, refusal)
    })
  )

  it.effect("a retired region takes no new project from the next request on", () =>
    Effect.gen(function* () {
      const { environment, issuer } = yield* Serving
      // An instance in the region that was missing.
      const api = (yield* Program.start("server", ["--roles", "api"], {
        ...environment,
        NARTHEX_REGION: "far"
      })).address("api")
      const { token } = yield* signIn(api, issuer.idToken("ada@example.com"))
      const create = (region: string) =>
        Effect.map(ask(api, "POST", "/v1/projects", token, { name: region, region }), ({ status }) => status)
      assert.strictEqual(yield* create("near"), 422)
      assert.strictEqual((yield* operated("add", "near")).code, 0)
      assert.strictEqual(yield* create("near"), 201)
      const { body } = yield* ask(api, "GET", "/v1/regions", token)
      assert.deepStrictEqual(
        body.regions.map((region: { readonly region_id: string }) => region.region_id),
        ["local", "near", "eu", "far"]
      )
      assert.deepStrictEqual((yield* operated("retire", "near")).lines, [
        "Region near is retired: it takes no new projects.",
        "Projects that stay there: 1. Keep a runner and a proxy of the region running."
      ])
      assert.strictEqual(yield* create("near"), 422)
    })
  )
})
