/** `narthex webhook` on a control plane in memory. */
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Webhook } from "standardwebhooks"
import { eventually } from "../../../test/harness/eventually.ts"
import { withShop } from "./support/signedIn.ts"

const url = "https://hooks.example.com/ada"
const json = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout)

describe("webhook", () => {
  it.live("webhook create prints the secret once, and list, get and deliveries know the webhook by its label", () =>
    Effect.gen(function* () {
      const { run, shop } = yield* withShop()
      const made = yield* run(["webhook", "create", url, "--label", "billing", "--type", "a.b.v1,c.d.v1"])
      assert.strictEqual(made.code, 0, made.stderr)
      assert.match(made.stdout, /secret +whsec_/)
      assert.match(made.stderr, /shown only now/)
      const { webhook } = json(yield* run(["webhook", "create", url, "--project", shop, "-o", "json"]))
      assert.strictEqual(webhook.project_id, shop)
      const { stdout } = yield* run(["webhook", "list"])
      assert.match(stdout, /^ID +URL +LABEL +STATUS +TYPES +PROJECT\n/)
      assert.match(stdout, /billing +active +a\.b\.v1,c\.d\.v1 +all\n/)
      assert.notInclude(stdout, "whsec_")
      assert.match((yield* run(["webhook", "get", "billing"])).stdout, /url +https:\/\/hooks\.example\.com\/ada\n/)
      const none = yield* run(["webhook", "deliveries", "billing"])
      assert.deepStrictEqual([none.code, none.stdout], [0, ""])
      assert.strictEqual((yield* run(["webhook", "get", "unknown"])).code, 1)
    }).pipe(Effect.scoped)
  )

  it.live("webhook update, rotate-secret, test, replay and delete change the webhook", () =>
    Effect.gen(function* () {
      const { run } = yield* withShop()
      yield* run(["webhook", "create", url, "--label", "billing", "--type", "a.b.v1"])
      const changed = json(yield* run(["webhook", "update", "billing", "--label", "ops", "--all-types", "-o", "json"]))
      assert.deepInclude(changed.webhook, { label: "ops", types: [], url })
      for (const wrong of [[], ["--all-types", "--type", "a.b.v1"]])
        assert.strictEqual((yield* run(["webhook", "update", "ops", ...wrong])).code, 2)
      const rotated = yield* run(["webhook", "rotate-secret", "ops", "--grace", "1h", "--yes"])
      assert.match(rotated.stdout, /secret +whsec_/)
      assert.match((yield* run(["webhook", "test", "ops"])).stderr, /narthex webhook deliveries wh-/)
      const unknown = yield* run(["webhook", "replay", "ops", "--after", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"])
      assert.strictEqual(unknown.code, 1)
      assert.match(unknown.stderr, /no event with this id/)
      assert.strictEqual((yield* run(["webhook", "replay", "ops"])).code, 0)
      assert.strictEqual((yield* run(["webhook", "delete", "ops", "--yes"])).code, 0)
      assert.match((yield* run(["webhook", "list"])).stderr, /no webhooks/)
    }).pipe(Effect.scoped)
  )

  it.live("webhook create is refused where the URL leads inside", () =>
    Effect.gen(function* () {
      const { run } = yield* withShop()
      const { code, stderr } = yield* run(["webhook", "create", "https://127.0.0.1/"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /public internet/)
    }).pipe(Effect.scoped)
  )

  it.live("webhook listen posts each event to a port of this machine, signed with the secret that it prints", () =>
    Effect.gen(function* () {
      const { client, plane, run } = yield* withShop()
      const got: Array<{ readonly body: string; readonly headers: Record<string, string> }> = []
      const server = createServer((request, response) => {
        let body = ""
        request.on("data", (part) => {
          body += part
        })
        request.on("end", () => {
          const headers = Object.fromEntries(Object.entries(request.headers).map(([name, it]) => [name, String(it)]))
          got.push({ body, headers })
          response.writeHead(202).end()
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => {
          server.listen(0, "127.0.0.1", () => resume(Effect.void))
        }),
        () =>
          Effect.sync(() => {
            server.close()
            server.closeAllConnections()
          })
      )
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const printed: Array<string> = []
      const onLine = (line: string) => void printed.push(line)
      const listening = yield* Effect.forkChild(
        run(["webhook", "listen", String(port)], { onNote: onLine, onAnswer: onLine })
      )
      yield* eventually(
        "a stream to be open on the control plane",
        Effect.sync(() => plane.streams > 0)
      )
      yield* Effect.promise(() => client.projects.create({ name: "warehouse" }))
      yield* eventually(
        "the answer of the receiver in the output",
        Effect.sync(() => printed.some((line) => / {2}operation\.updated\.v1 {2}\S{26} {2}202$/.test(line)))
      )
      yield* Fiber.interrupt(listening)
      const secret = /whsec_[A-Za-z0-9+/]{43}=/.exec(printed.join("\n"))?.[0] ?? assert.fail("no secret")
      for (const { body, headers } of got) new Webhook(secret).verify(body, headers)
      assert.deepInclude(JSON.parse(got[0]?.body ?? "{}"), { type: "operation.updated.v1" })
      assert.strictEqual((yield* run(["webhook", "listen", "nowhere"])).code, 2)
    }).pipe(Effect.scoped)
  )
})
