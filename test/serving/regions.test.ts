/**
 * Two regions with two data directories on one store: each serves its own projects, also while the other is killed or
 * stands still. Holds docs/design/operations.md O26, O27, O29 and docs/design/proxy.md P52.
 */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { eventually } from "../harness/eventually.ts"
import { openSession, sqlstate } from "../hostile/support/Session.ts"
import { ask, signIn } from "./support/ask.ts"
import { operate } from "./support/operate.ts"
import { Place, type Tenant } from "./support/Place.ts"
import { run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

interface Inhabited {
  readonly place: Place
  readonly tenant: Tenant
}

class Regions extends Context.Service<
  Regions,
  { readonly eu: Inhabited; readonly us: Inhabited; readonly token: string }
>()("@narthex/test/serving/Regions") {
  static readonly layer = Layer.effect(
    Regions,
    Effect.gen(function* () {
      const { issuer } = yield* Serving
      const [eu, us] = [yield* Place.make("eu"), yield* Place.make("us")]
      const { token: session } = yield* signIn(eu.url, issuer.idToken("ada@example.com"))
      // The token of a session is of one address of the API; a key is of all.
      const { body } = yield* ask(eu.url, "POST", "/v1/api-keys/", session, { name: "regions" })
      const token = String(body.secret)
      // The projects are made through one of the two APIs: it schedules what the runner of the region performs.
      const inhabited = Effect.fnUntraced(function* (place: Place) {
        const tenant = yield* place.tenant(eu.url, token)
        yield* place.run(tenant, "create table mark (region text)", `insert into mark values ('${place.id}')`)
        return { place, tenant }
      })
      return { eu: yield* inhabited(eu), us: yield* inhabited(us), token }
    })
  ).pipe(Layer.provideMerge(Serving.layer))
}

const marks = ({ place, tenant }: Inhabited) =>
  Effect.map(place.run(tenant, "select region from mark"), (rows) => rows.map((row) => row["region"]))

/** The status of the newest operation of a branch, by the API of a region. */
const statusOf = (url: string, token: string, { path }: Tenant, branch: string) =>
  Effect.map(ask(url, "GET", `${path}/operations?branch_id=${branch}&limit=1`, token), ({ body }) =>
    String(body.operations[0].status)
  )

const branchOf = (url: string, token: string, { path }: Tenant) =>
  Effect.map(ask(url, "POST", `${path}/branches`, token, {}), ({ body }) => String(body.branch.id))

const finished = (url: string, token: string, tenant: Tenant, branch: string) =>
  eventually(
    `the creation of ${branch}`,
    Effect.map(statusOf(url, token, tenant, branch), (status) => status === "finished"),
    { every: 200, limit: 120_000 }
  )

layer(Regions.layer, { excludeTestServices: true })("two regions on one store", (it) => {
  it.effect("a project needs a region, and its data are in the directory of that region", () =>
    Effect.gen(function* () {
      const { eu, token, us } = yield* Regions
      const { body, status } = yield* ask(us.place.url, "POST", "/v1/projects", token, { name: "nowhere" })
      assert.deepStrictEqual([status, body.code], [422, "region_required"])
      for (const it of [eu, us]) {
        assert.deepStrictEqual(it.place.branches, [it.tenant.branch])
        assert.deepStrictEqual(yield* marks(it), [it.place.id])
      }
    })
  )

  it.effect("a proxy refuses the endpoint of the other region with the right host", () =>
    Effect.gen(function* () {
      const { eu, us } = yield* Regions
      for (const [here, there] of [
        [eu, us],
        [us, eu]
      ] as const) {
        const refused = yield* Effect.promise(() =>
          openSession(here.place.uri(there.tenant), "127.0.0.1").then(
            () => undefined,
            (error: unknown) => error
          )
        )
        assert.strictEqual(sqlstate(refused), "08004")
        assert.include(String(refused), `is in region "${there.place.id}"`)
      }
    })
  )

  it.effect("an event has the region of the process that made the change", () =>
    Effect.gen(function* () {
      const { eu, token, us } = yield* Regions
      for (const { place, tenant } of [eu, us]) {
        const { body } = yield* ask(eu.place.url, "GET", `${tenant.path}/events/history?limit=1000`, token)
        const created = body.events.filter(
          ({ data }: { readonly data: Readonly<Record<string, unknown>> }) => data["action"] === "create_timeline"
        )
        assert.sameDeepMembers(
          created.map(
            ({ data, region_id }: { readonly data: { readonly status: string }; readonly region_id: string }) => [
              data.status,
              region_id
            ]
          ),
          [
            ["scheduling", "eu"],
            ["running", place.id],
            ["finished", place.id]
          ]
        )
      }
    })
  )

  for (const how of ["killed", "stopped"] as const)
    for (const [gone, other] of [
      ["eu", "us"],
      ["us", "eu"]
    ] as const)
      it.effect(
        `while ${gone} is ${how}, ${other} serves, and the work of ${gone} waits for its runner`,
        () =>
          Effect.gen(function* () {
            const { [gone]: away, [other]: here, token } = yield* Regions
            const { url } = here.place
            yield* marks(away) // its compute runs
            yield* away.place.end(how)
            const waiting = yield* branchOf(url, token, away.tenant)
            const made = yield* branchOf(url, token, here.tenant)
            yield* finished(url, token, here.tenant, made)
            assert.deepStrictEqual(yield* marks(here), [other])
            assert.strictEqual(yield* statusOf(url, token, away.tenant, waiting), "scheduling")
            const { body } = yield* ask(url, "GET", `${away.tenant.path}/endpoints/${away.tenant.endpoint}`, token)
            assert.strictEqual(
              body.endpoint.current_state,
              "active",
              "the other runner does not take its computes for lost"
            )
            assert.notInclude(here.place.branches, waiting)
            yield* away.place.goOn(how)
            yield* finished(away.place.url, token, away.tenant, waiting)
            assert.include(away.place.branches, waiting)
            assert.deepStrictEqual(yield* marks(away), [gone])
          }),
        { timeout: 240_000 }
      )

  it.effect("a process does not start without NARTHEX_REGION", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      for (const roles of ["api", "runner"]) {
        const { code, stderr } = yield* run("server", ["--roles", roles], environment)
        assert.strictEqual(code, 1)
        assert.include(stderr, "The store has the regions eu, us, and NARTHEX_REGION is not set.")
      }
    })
  )

  it.effect("operators see the runners of each region, when one was seen last, and its projects", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      const rows = Effect.map(operate(environment, "regions", "list"), ({ lines }) =>
        lines.slice(1).map((line) => line.trim().split(/ {2,}/))
      )
      yield* eventually(
        "both runners to be listed",
        Effect.map(rows, (all) =>
          all.every((row) => row[5] === "1" && row[8] === "1" && /^\d+s ago$/.test(row[6] ?? ""))
        )
      )
    })
  )

  it.effect("a runner does not start on the directory of another region", () =>
    Effect.gen(function* () {
      const { eu } = yield* Regions
      yield* eu.place.end("killed")
      const { code, stderr } = yield* run("server", ["--roles", "runner"], {
        ...eu.place.settings,
        NARTHEX_REGION: "us"
      })
      assert.strictEqual(code, 1)
      assert.include(stderr, 'has the branches of region "eu"')
    })
  )
})
