/**
 * Which statements a page of the console costs, in the process of the API and on Postgres (docs/design/console.md W49):
 * one for what it shows of each kind, however much there is of it.
 */
import { assert, layer } from "@effect/vitest"
import { ConsoleListener, layerConsoleServer } from "@narthex/console"
import { Database, PostgresStorage } from "@narthex/postgres"
import { Context, Effect, Layer, Redacted, References } from "effect"
import { Browser } from "../../packages/console/test/support/Browser.ts"
import { cookieKey } from "../../packages/console/test/support/Console.ts"
import { sealed } from "../../packages/console/test/support/signedIn.ts"
import { apiOver, consoleToken } from "../../packages/http/test/support/apiOver.ts"
import { founder } from "../../packages/http/test/support/story.ts"
import { TestApi } from "../../packages/http/test/support/wire.ts"
import { testDatabase } from "../../packages/postgres/test/support/TestDatabase.ts"

/** The operations of the statements that were sent. */
class Sent extends Context.Service<Sent, Array<string>>()("test/Sent") {}

const sent: Array<string> = []

const counted = Layer.effect(
  Database,
  Effect.map(Database, (database) =>
    Database.of({
      ...database,
      query: (operation, ...rest) =>
        Effect.suspend(() => {
          sent.push(operation)
          return database.query(operation, ...rest)
        })
    })
  )
).pipe(Layer.provide(testDatabase))

const web = Layer.unwrap(
  Effect.map(TestApi, ({ direct, port }) =>
    layerConsoleServer({
      api_url: `http://127.0.0.1:${port}`,
      api_client: direct,
      console_url: null,
      console_token: Redacted.make(consoleToken),
      cookie_key: cookieKey,
      providers: [],
      trusted_hops: 1
    })
  )
).pipe(
  Layer.provideMerge(ConsoleListener.layer({ host: "127.0.0.1", port: 0 })),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal"))
)

const everything = web.pipe(
  Layer.provideMerge(Layer.succeed(Sent, sent)),
  Layer.provideMerge(apiOver(Layer.provide(PostgresStorage.layer, counted), { idle: true }))
)

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** The reads of every page: the session and its rights, the newest event, the content of the frame. */
const frame = ["CredentialStore.bySession", "EventLog.headOf", "OverviewStore.ofPerson"]
/** The reads of every page of a project, and below of pages that show its contents. */
const inside = [...frame, "ProjectStore.find"]
const shown = [...inside, "OverviewStore.ofProject"]

/** Loops of the API send these, without a request. */
const isBackground = (operation: string) =>
  operation === "EndpointStore.noteReceiving" || (operation.startsWith("EventLog.") && operation !== "EventLog.headOf")

layer(everything, { excludeTestServices: true, timeout: "60 seconds" })("statements of pages", (it) => {
  it.effect("each page sends the statements for what it shows, and no others, with five projects as with one", () =>
    Effect.gen(function* () {
      const operations = yield* Sent
      const who = yield* founder()
      const made: Array<string> = []
      for (const name of ["shop", "blog", "wiki", "mail", "maps"])
        made.push((yield* who.call("POST", "/v1/projects", { body: { name } })).body.project.id)
      const now = Date.now()
      const browser = new Browser((yield* ConsoleListener).url)
      const times = { issued_at: now, expires_at: now + 10 * 60_000, refresh_until: now + 3_600_000 }
      const cookie = { id: "statements", access_token: who.token, org_id: who.org_id, ...times }
      browser.cookies.set(browser.session, yield* sealed(cookie))
      const home = `/orgs/${who.org_id}`
      const here = `${home}/projects/${made[0]}`
      const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
        [`${home}/projects`]: [...frame, "ProjectStore.list", "OverviewStore.ofProjects"],
        [`${home}/activity`]: [...frame, "EventLog.newest", "OverviewStore.names"],
        [`${home}/regions`]: [...frame, "RegionCatalog.all"],
        [here]: shown,
        [`${here}/branches`]: [...shown, "BranchStore.list", "QuotaStore.disksOf"],
        [`${here}/endpoints`]: [...shown, "EndpointStore.list"],
        [`${here}/operations`]: [...shown, "OperationStore.list"],
        [`${here}/ip-allow`]: [...shown, "ClientRefusalStore.list"],
        [`${here}/settings`]: inside
      }
      for (const [page, statements] of Object.entries(expected)) {
        operations.length = 0
        assert.strictEqual((yield* go(() => browser.open(page))).status, 200, page)
        const seen = operations.filter((operation) => statements.includes(operation) || !isBackground(operation))
        assert.deepStrictEqual(seen.toSorted(), [...statements].toSorted(), page)
      }
    })
  )
})
