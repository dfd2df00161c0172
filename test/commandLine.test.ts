/**
 * The command line alone, against the platform and real computes: a project is created, branched, queried, restricted
 * and deleted, everything by its name.
 */
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createClient } from "@narthex/api"
import { cli } from "./support/commands.ts"
import { SharedPlatform } from "./support/SharedPlatform.ts"
import { signInAt } from "./support/signInAt.ts"
import { emptyDirectory, ownAccount } from "./support/surroundings.ts"

/** Milliseconds. Each wait has a shorter limit and names what it waited for. */
const hangGuard = 600_000

describe("the command line alone", { tags: ["psql"], timeout: hangGuard }, () => {
  const directory = emptyDirectory(ownAccount)
  let platform: SharedPlatform
  let narthex: (...args: ReadonlyArray<string>) => ReturnType<typeof cli>

  beforeAll(async () => {
    platform = await SharedPlatform.get()
    const { api, console: web, providers } = platform.ready
    const id_token = await signInAt(
      providers[0]?.issuer ?? "",
      `${web}/sign-in/callback`,
      "ada@command-line.example.com"
    )
    const session = await createClient({ baseUrl: api }).auth.exchange({ id_token })
    const { secret } = await createClient({ baseUrl: api, credential: session.access_token }).apiKeys.create({
      name: "cli"
    })
    narthex = (...args) => cli(join(directory.path, "home"), api, secret ?? "", args)
  })

  afterAll(() => directory.remove())

  const printed = async (...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = await narthex(...args)
    assert.strictEqual(status, 0, `narthex ${args.join(" ")}\n${stderr}`)
    return stdout
  }

  it("a project is created, branched, queried, restricted and deleted by its name", async () => {
    await platform.explain(async () => {
      await printed("project", "create", "shop", "--wait")
      await printed("psql", "shop", "-c", "create table kept as select 42 as answer")
      await printed("branch", "create", "preview", "--project", "shop", "--wait")
      const preview = ["psql", "shop", "--branch", "preview"]
      assert.match(await printed(...preview, "-c", "insert into kept values (43)", "-c", "table kept"), /42\n +43/)
      assert.strictEqual((await printed("psql", "shop", "-c", "table kept", "--", "-At")).trim(), "42")
      assert.strictEqual((await narthex("psql", "shop", "-c", "select wrong")).status, 1, "psql's exit code")

      await printed("ip-allow", "add", "203.0.113.0/24", "--project", "shop")
      const check = ["ip-allow", "check", "--current", "--project", "shop", "-o", "json"]
      assert.strictEqual(JSON.parse(await printed(...check)).allowed, false)
      const refused = await narthex("psql", "shop", "-c", "select 1")
      assert.strictEqual(refused.status, 2, "psql's exit code")
      assert.match(refused.stderr.replaceAll(/\s+/g, " "), /is not on this project's IP allowlist/)
      await printed("ip-allow", "add", "--current", "--project", "shop")
      assert.strictEqual(JSON.parse(await printed(...check)).allowed, true)
      assert.match(await printed("psql", "shop", "-c", "table kept"), /42/)

      const history = await printed("events", "history", "--project", "shop", "--limit", "50")
      assert.match(history, /operation\.updated\.v1 +\S+ +create_branch finished/)
      assert.match(await printed("connection-string", "--project", "shop", "--ttl", "1h"), /^postgresql:\/\/role_/)
      const credentials = JSON.parse(await printed("credential", "list", "--project", "shop", "-o", "json")).credentials
      assert.strictEqual(credentials.filter(({ state }: { state: string }) => state !== "ending").length, 1)

      await printed("branch", "delete", "preview", "--project", "shop", "--yes", "--wait")
      await printed("project", "delete", "shop", "--yes", "--wait")
      assert.strictEqual(await printed("project", "list"), "")
    })
  })
})
