/**
 * The pages for operators, typed as they stand: a machine is set up, backed up, destroyed, restored, upgraded and rolled
 * back, with a person's data in a branch.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { resource } from "../harness/resource.ts"
import { ask } from "../serving/support/ask.ts"
import { clientId, makeIssuer } from "../serving/support/Issuer.ts"
import { blocksRunBy } from "../support/documentedBlocks.ts"
import { processesIn } from "../support/processesIn.ts"
import { root } from "./ground.ts"
import { Machine } from "./Machine.ts"
import { person } from "./person.ts"
import { stablePorts } from "./stablePorts.ts"

const blocks = blocksRunBy("test/walk/operating.test.ts")

/** The blocks below a heading of a page, in its order. */
const blocksOf = (page: string, heading: string) =>
  blocks
    .filter((block) => block.page === `docs/operating/${page}.md` && block.heading === heading)
    .map(({ text }) => text)

/** Without the line that builds: the programs are there. */
const built = (text: string) => text.replace(/^npm run build\n/m, "")

const names = { server: "narthex-server", proxy: "narthex-proxy" }

/** A machine, the ports of its programs, and what an operator types there. */
const machine = Effect.gen(function* () {
  yield* Effect.promise(() => resource("build"))
  const { admin, url } = yield* PostgresServer
  const store = new URL(Redacted.value(url("narthex")))
  const host = store.searchParams.get("host") ?? assert.fail("a directory")
  const issuer = yield* makeIssuer
  const [api, console, proxy, serverAdmin, proxyAdmin] = yield* Effect.promise(() => stablePorts(5))
  const it = yield* Effect.acquireRelease(
    Effect.sync(() => new Machine({ PGHOST: host, PGUSER: "postgres" })),
    (made) => Effect.promise(() => made.remove())
  )
  store.searchParams.set("user", "narthex")
  const address = `http://127.0.0.1:${api}`
  /** The operator's own values: addresses, and the ports of a machine that others use too. */
  const own: Record<string, string> = {
    DATABASE_URL: `'${store}'`,
    NARTHEX_API_URL: address,
    NARTHEX_API_INTERNAL_URL: address,
    NARTHEX_CONSOLE_URL: `http://127.0.0.1:${console}`,
    NARTHEX_PROXY_HOST: "127.0.0.1"
  }
  const adapt = (file: string, more: Readonly<Record<string, string | number | undefined>>) => {
    const path = it.path(`etc/narthex/${file}`)
    const kept = it
      .here(readFileSync(path, "utf8"))
      .replaceAll(/^(\w+)=.*$/gm, (line, name) => (own[name] === undefined ? line : `${name}=${own[name]}`))
    const added = Object.entries(more).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(path, kept.replace(/^NARTHEX_ADMIN_PORT=.*\n/m, "") + added.join(""))
  }
  const type = (text: string) =>
    Effect.promise(() => {
      const block = built(text).replaceAll(":4409/", `:${serverAdmin}/`).replaceAll(":4408/", `:${proxyAdmin}/`)
      return it.type(block)
    })
  return { admin, adapt, address, api, console, issuer, it, proxy, proxyAdmin, serverAdmin, type, url }
})

type Place = Effect.Success<typeof machine>

/** The operator's values, in the files that the sixth step has installed. */
const adapted = ({ adapt, api, console, issuer, it, proxy, proxyAdmin, serverAdmin }: Place) => {
  const ports = { NARTHEX_API_PORT: api, NARTHEX_CONSOLE_PORT: console, NARTHEX_PROXY_PORT: proxy }
  adapt("server.env", { ...ports, NARTHEX_ADMIN_PORT: serverAdmin })
  adapt("proxy.env", { NARTHEX_PROXY_PORT: proxy, NARTHEX_ADMIN_PORT: proxyAdmin })
  const provider = { name: "Test", issuer: issuer.url, client_ids: [clientId] }
  const file = it.path("etc/narthex/providers.json")
  writeFileSync(file, JSON.stringify([{ ...provider, id: "test" }]))
}

/** A certificate for the names of endpoints. */
const certified = ({ it }: Place) =>
  Effect.promise(() =>
    it.type(
      `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=db.example.com -keyout ${it.path("etc/narthex/db.key")} -out ${it.path("etc/narthex/db.crt")} 2>/dev/null`
    )
  )

const needed = ["root", "system-postgres", "psql", "curl", "caddy", "openssl", "systemd"]

describe("the pages for operators", { tags: needed, timeout: 600_000 }, () => {
  it.live("a machine set up by the checklist is backed up, destroyed and restored, upgraded and rolled back", () =>
    Effect.gen(function* () {
      const place = yield* machine
      const { it: here, type } = place
      const steps = blocksOf("serving", "Checklist")
      assert.lengthOf(steps, 8)
      for (const step of steps) {
        yield* type(step)
        if (step.includes("deploy/server.env")) adapted(place)
        if (step.includes("Caddyfile")) yield* certified(place)
      }

      const ada = yield* person(place)
      yield* ada.psql("create table t as select 42 as answer")
      yield* type(blocksOf("backup", "Back up")[0] ?? assert.fail("The page has no block."))
      // Changes after the backup are lost.
      yield* ada.psql("insert into t values (43)")
      const late = yield* ask(place.address, "POST", "/v1/projects", ada.secret, { name: "late" })
      assert.strictEqual(late.status, 201)

      yield* Effect.promise(() => here.stop(names.proxy))
      yield* Effect.promise(() => here.stop(names.server))
      assert.deepStrictEqual(processesIn(here.root), [])
      yield* place.admin("drop database narthex")
      yield* place.admin("drop role narthex")
      for (const folder of ["etc/narthex", "var/lib/narthex"]) rmSync(here.path(folder), { recursive: true })

      yield* type(blocksOf("backup", "Restore")[0] ?? assert.fail("The page has no block."))
      assert.deepStrictEqual(yield* ada.projects(ada.secret), ["shop"])
      assert.deepStrictEqual(yield* ada.projects(ada.token), ["shop"])
      assert.strictEqual((yield* ada.psql("select answer from t")).trim(), "42")

      const [migrate = "", restart = ""] = [...blocksOf("upgrade", "The new release"), ...blocksOf("upgrade", "Order")]
      yield* type(migrate)
      yield* type(restart)
      assert.strictEqual((yield* ada.psql("select answer from t")).trim(), "42")

      // The newer release has migrated the store.
      yield* place.admin(
        "insert into narthex_migration (name, checksum) values ('9999_newer', 'x')",
        place.url("narthex")
      )
      yield* type(`ln -s ${root} /opt/narthex-former`)
      yield* type(blocksOf("upgrade", "Roll back")[0] ?? assert.fail("The page has no block."))
      assert.deepStrictEqual(yield* ada.projects(ada.secret), ["shop"])
      assert.strictEqual((yield* ada.psql("select answer from t")).trim(), "42")
      yield* Effect.promise(() => here.stop(names.proxy))
      yield* Effect.promise(() => here.stop(names.server))
    }).pipe(Effect.scoped, Effect.provide(PostgresServer.layerOwn))
  )
})

describe("the units", { tags: ["systemd"] }, () => {
  it("systemd accepts the units of deploy", () => {
    const folder = mkdtempSync(join(tmpdir(), "narthex-units-"))
    try {
      for (const name of Object.values(names)) {
        const file = join(folder, `${name}.service`)
        writeFileSync(file, readFileSync(join(root, `deploy/${name}.service`), "utf8").replaceAll("/opt/narthex", root))
        const { status, stderr } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" })
        assert.deepStrictEqual([status, stderr], [0, ""])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
