import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { other } from "./support/records.ts"
import { problem } from "./support/replies.ts"
import { signedIn } from "./support/signedIn.ts"

const id = "01930000-0000-7000-8000-00000000dddd"
const grace = { id: "01930000-0000-7000-8000-00000000eeee", email: "grace@example.com", name: "Grace\u001b[2J" }
const invitation = {
  id,
  organization: { id: other, name: "Engines" },
  role: "member",
  invited_by: grace,
  created_at: "2026-11-20T10:00:00.000Z",
  expires_at: "2026-11-27T10:00:00.000Z"
}
const organization = {
  id: other,
  name: "Engines",
  personal: false,
  role: "member",
  created_at: "2026-11-20T10:00:00.000Z",
  updated_at: "2026-11-20T10:00:00.000Z"
}

describe("invitation", () => {
  it.live("invitation list prints who invites into which organization, and escapes their names", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      const body = { invitations: [invitation], pagination: { next_cursor: null } }
      plane.instead = ({ path }) => (path === "/v1/invitations" ? { status: 200, body } : undefined)
      const { code, stdout } = yield* run(["invitation", "list"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^ID +ORGANIZATION +ROLE +INVITED BY +EXPIRES\n/)
      assert.include(
        stdout,
        `${id}  Engines       member  Grace\\u001b[2J <grace@example.com>  2026-11-27T10:00:00.000Z`
      )
      assert.deepStrictEqual(JSON.parse((yield* run(["invitation", "list", "-o", "json"])).stdout), body)
    }).pipe(Effect.scoped)
  )

  it.live("an empty invitation list is a sentence on stderr", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      const body = { invitations: [], pagination: { next_cursor: null } }
      plane.instead = ({ path }) => (path === "/v1/invitations" ? { status: 200, body } : undefined)
      const { code, stderr, stdout } = yield* run(["invitation", "list"])
      assert.deepStrictEqual([code, stdout], [0, ""])
      assert.match(stderr, /^No organization invites you\./)
    }).pipe(Effect.scoped)
  )

  it.live("invitation accept names the organization and says how to get a key for it", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = ({ path }) =>
        path === `/v1/invitations/${id}/accept` ? { status: 200, body: { organization } } : undefined
      const { code, stderr, stdout } = yield* run(["invitation", "accept", id])
      assert.deepStrictEqual([code, stdout.trim()], [0, "You are a member of Engines (member)."])
      assert.match(stderr, /narthex login --context/)
      const last = plane.requests.at(-1)
      assert.deepStrictEqual([last?.method, last?.path], ["POST", `/v1/invitations/${id}/accept`])
      const json = JSON.parse((yield* run(["invitation", "accept", id, "-o", "json"])).stdout)
      assert.strictEqual(json.organization.id, other)
    }).pipe(Effect.scoped)
  )

  it.live("a refused acceptance exits with 1 and prints the sentence of the API", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = ({ method }) =>
        method === "POST" ? problem("conflict", { detail: "Ask for a new invitation." }) : undefined
      const { code, stderr } = yield* run(["invitation", "accept", id])
      assert.strictEqual(code, 1)
      assert.match(stderr, /Ask for a new invitation\./)
    }).pipe(Effect.scoped)
  )

  it.live("invitation decline asks for --yes without a terminal, and refuses what is not an id", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = ({ path }) => (path.startsWith("/v1/invitations/") ? { status: 204 } : undefined)
      const before = plane.requests.length
      assert.strictEqual((yield* run(["invitation", "decline", id])).code, 2)
      assert.strictEqual((yield* run(["invitation", "decline", "..", "--yes"])).code, 2)
      assert.isFalse(plane.requests.slice(before).some(({ method }) => method === "POST"))
      assert.strictEqual((yield* run(["invitation", "decline", id, "--yes"])).code, 0)
      assert.strictEqual(plane.requests.at(-1)?.path, `/v1/invitations/${id}/decline`)
    }).pipe(Effect.scoped)
  )

  it.live("whoami names the inviter of a membership that is not confirmed", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.inviter = grace
      const { stderr, stdout } = yield* run(["whoami", "-o", "json"])
      assert.deepStrictEqual(JSON.parse(stdout).invited_by, grace)
      assert.include(stderr, "Grace\\u001b[2J <grace@example.com> invited you to Acme. Stay or leave in the console.")
    }).pipe(Effect.scoped)
  )
})
