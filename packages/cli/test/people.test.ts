import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onControlPlane } from "./support/onControlPlane.ts"

/** Ada and Bob, and a key of Ada's team Acme, in which Bob is a member. */
const inAcme = Effect.gen(function* () {
  const world = yield* onControlPlane
  const { key, session } = yield* Effect.promise(async () => {
    const { organization } = await world.client.orgs.create({ name: "Acme" })
    const session = await world.client.auth.switchOrg({ org_id: organization.id })
    const client = world.plane.product.client({ access_token: session.access_token })
    return { session, key: await client.apiKeys.create({ name: "acme" }) }
  })
  const run = world.with(key.secret ?? "")
  assert.strictEqual((yield* run(["invitation", "create", "bob@example.com"])).code, 0)
  const bob = yield* Effect.promise(async () => {
    const bob = await world.signIn("bob")
    const { invitations } = await bob.client.ownInvitations.list({})
    for (const { id } of invitations) await bob.client.ownInvitations.accept({ invitation_id: id })
    return bob
  })
  return { ...world, bob, key, run, asPerson: world.with(session.access_token) }
})

const json = ({ stderr, stdout }: { readonly stderr: string; readonly stdout: string }) => {
  assert.isNotEmpty(stdout, stderr)
  return JSON.parse(stdout)
}

describe("org", () => {
  it.live("org create and session list name the console's page to a key, and work with a session", () =>
    Effect.gen(function* () {
      const { asPerson, run } = yield* onControlPlane
      const variables = { NARTHEX_CONSOLE_URL: "http://console.test" }
      for (const [args, page] of [
        [["org", "create", "Acme"], "http://console.test/orgs/new"],
        [["session", "list"], "http://console.test/account"],
        [["session", "end", "01930000-0000-7000-8000-00000000dddd", "--yes"], "http://console.test/account"]
      ] as const) {
        const { code, stderr, stdout } = yield* run(args, { variables })
        assert.deepStrictEqual([code, stdout], [1, ""], args.join(" "))
        assert.include(stderr, "needs a person's session, and an API key has none.")
        assert.include(stderr, `${page} (--open opens it)`)
        const problem = JSON.parse((yield* run([...args, "-o", "json"], { variables })).stderr)
        assert.strictEqual(problem.code, "session_required")
        assert.match(problem.request_id, /./)
        let opened = ""
        const open = (url: string) =>
          Effect.sync(() => {
            opened = url
            return true
          })
        const shown = yield* run([...args, "--open"], { variables, open })
        assert.deepStrictEqual([shown.code, shown.stdout, opened], [0, `${page}\n`, page])
      }
      const made = yield* asPerson(["org", "create", "Acme"])
      assert.match(made.stdout, /^organization +[0-9a-f-]{36}\nname +Acme\npersonal +no\nrole +owner\n/)
      assert.strictEqual(json(yield* asPerson(["session", "list", "-o", "json"])).sessions[0].current, true)
      const [{ id }] = json(yield* asPerson(["session", "list", "-o", "json"])).sessions
      const asked = yield* asPerson(["session", "end", id])
      assert.deepStrictEqual([asked.code, /with it the credential of this command/.test(asked.stderr)], [2, true])
      assert.strictEqual((yield* asPerson(["session", "end", id, "--yes"])).code, 0)
      assert.strictEqual((yield* asPerson(["session", "list"])).code, 4)
    }).pipe(Effect.scoped)
  )

  it.live("org get and rename serve the organization of the credential, and org delete compares its name", () =>
    Effect.gen(function* () {
      const { run } = yield* inAcme
      assert.match((yield* run(["org", "get"])).stdout, /^name +Acme$/m)
      assert.strictEqual(
        json(yield* run(["org", "rename", "Acme Shipping", "-o", "json"])).organization.name,
        "Acme Shipping"
      )
      const wrong = yield* run(["org", "delete", "Acme", "--yes"])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [2, ""])
      assert.match(wrong.stderr, /The credential belongs to the organization Acme Shipping/)
      assert.strictEqual((yield* run(["org", "delete", "Acme Shipping"])).code, 2)
      assert.strictEqual((yield* run(["org", "delete", "Acme Shipping", "--yes"])).code, 0)
      assert.strictEqual((yield* run(["org", "get"])).code, 4)
    }).pipe(Effect.scoped)
  )
})

describe("member", () => {
  it.live("a member is given by the address, and member set-role changes the role", () =>
    Effect.gen(function* () {
      const { run } = yield* inAcme
      assert.match((yield* run(["member", "list"])).stdout, /^bob@example\.com +bob +member +\S+ +[0-9a-f-]{36}$/m)
      for (const address of ["bob@example.com", "Bob@Example.com."])
        assert.match((yield* run(["member", "set-role", address, "admin"])).stdout, /^role +admin$/m)
      assert.strictEqual((yield* run(["member", "set-role", "bob@example.com", "King"])).code, 2)
      const undeclared = yield* run(["member", "set-role", "bob@example.com", "king"])
      assert.deepStrictEqual([undeclared.code, /There is no role "king"/.test(undeclared.stderr)], [1, true])
      const unknown = yield* run(["member", "set-role", "bob@example.con", "admin"])
      assert.deepStrictEqual([unknown.code, /Did you mean "bob@example\.com"/.test(unknown.stderr)], [1, true])
    }).pipe(Effect.scoped)
  )

  it.live("a change of the own role is confirmed first, and of the last owner refused by the API", () =>
    Effect.gen(function* () {
      const { run } = yield* inAcme
      const asked = yield* run(["member", "set-role", "ada@example.com", "member"])
      assert.deepStrictEqual([asked.code, /own role changes from owner to member/.test(asked.stderr)], [2, true])
      const refused = yield* run(["member", "set-role", "ada@example.com", "member", "--yes"])
      assert.deepStrictEqual([refused.code, /code: conflict/.test(refused.stderr)], [1, true])
    }).pipe(Effect.scoped)
  )

  it.live("member remove states what ends with the membership, and never removes the caller", () =>
    Effect.gen(function* () {
      const { bob, plane, run } = yield* inAcme
      yield* Effect.promise(async () => {
        const { organizations } = await bob.client.orgs.list({})
        const acme = organizations.find(({ name }) => name === "Acme")
        const session = await bob.client.auth.switchOrg({ org_id: acme?.id ?? "" })
        await plane.product.client({ access_token: session.access_token }).apiKeys.create({ name: "bob's" })
      })
      const asked = yield* run(["member", "remove", "bob@example.com"])
      assert.strictEqual(asked.code, 2)
      assert.include(
        asked.stderr,
        "bob@example.com will lose access to Acme. 1 API key ends; 0 database credentials end, too."
      )
      const kept = yield* run(["member", "remove", "bob@example.com", "--hand-over-credentials"])
      assert.include(kept.stderr, "0 database credentials become yours")
      assert.match(
        (yield* run(["member", "remove", "ada@example.com", "--yes"])).stderr,
        /This is you\.\n {2}hint: narthex member leave/
      )
      assert.strictEqual((yield* run(["member", "remove", "bob@example.com", "--yes"])).code, 0)
      assert.strictEqual(json(yield* run(["member", "list", "-o", "json"])).members.length, 1)
      const last = yield* run(["member", "leave", "--yes"])
      assert.deepStrictEqual([last.code, /code: conflict/.test(last.stderr)], [1, true])
    }).pipe(Effect.scoped)
  )
})

describe("invitation create, resend and revoke", () => {
  it.live("an invitation is given by its address, and its inviter is told where it is accepted", () =>
    Effect.gen(function* () {
      const { run } = yield* inAcme
      const variables = { NARTHEX_CONSOLE_URL: "http://console.test" }
      const made = yield* run(["invitation", "create", "eve@example.com", "--role", "admin"], { variables })
      assert.match(made.stdout, /^email +eve@example\.com\nrole +admin\nstatus +pending$/m)
      assert.include(made.stderr, "ask eve@example.com to sign in at http://console.test/invitations")
      const sent = (yield* run(["invitation", "list", "--sent"])).stdout
      assert.match(sent, /^bob@example\.com +member +accepted/m)
      assert.match(sent, /^eve@example\.com +admin +pending +ada@example\.com/m)
      for (const address of ["eve@example.com", "Eve@Example.com."])
        assert.strictEqual((yield* run(["invitation", "resend", address])).code, 0)
      assert.strictEqual((yield* run(["invitation", "revoke", "eve@example.com"])).code, 2)
      assert.strictEqual((yield* run(["invitation", "revoke", "eve@example.com", "--yes"])).code, 0)
      const gone = yield* run(["invitation", "revoke", "eve@example.com", "--yes"])
      assert.match(gone.stderr, /There is no invitation "eve@example\.com"/)
      const malformed = yield* run(["invitation", "create", "eve"])
      assert.deepStrictEqual([malformed.code, /Expected an email address/.test(malformed.stderr)], [2, true])
    }).pipe(Effect.scoped)
  )
})

describe("api-key", () => {
  it.live("api-key create and rotate show the secret once with a session, and name the page to a key", () =>
    Effect.gen(function* () {
      const { asPerson, run } = yield* onControlPlane
      yield* run(["project", "create", "shop"])
      const args = ["api-key", "create", "ci", "--project", "shop", "--branch", "main", "--capability", "read"]
      const made = json(yield* asPerson([...args, "--expires-in-days", "9", "-o", "json"]))
      assert.match(made.secret, /^nsk_/)
      assert.deepStrictEqual([made.api_key.scope.type, made.api_key.capability], ["branch", "read"])
      const rotated = yield* asPerson(["api-key", "rotate", "ci", "--grace", "1h", "--yes"])
      const secret = /^secret +(nsk_\w+)$/m.exec(rotated.stdout)?.[1]
      assert.isDefined(secret)
      assert.notStrictEqual(secret, made.secret)
      assert.strictEqual((yield* asPerson(["api-key", "rotate", "ci", "--grace", "2d", "--yes"])).code, 2)
      assert.strictEqual((yield* asPerson(["api-key", "rotate", "ci"])).code, 2)
      assert.match((yield* run(["api-key", "get", "cli"])).stdout, /^capability +read_write$/m)
      const variables = { NARTHEX_CONSOLE_URL: "http://console.test" }
      for (const refused of [
        ["create", "ci"],
        ["rotate", "cli", "--yes"]
      ]) {
        const { code, stderr } = yield* run(["api-key", ...refused], { variables })
        assert.strictEqual(code, 1)
        assert.match(stderr, /http:\/\/console\.test\/orgs\/[0-9a-f-]{36}\/api-keys \(--open opens it\)/)
      }
      assert.strictEqual((yield* asPerson(["api-key", "revoke", "ci", "--yes"])).code, 0)
    }).pipe(Effect.scoped)
  )
})
