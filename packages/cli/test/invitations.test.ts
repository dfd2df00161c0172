import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { problem } from "../../../test/support/HostedPlane.ts"
import { runNarthex } from "./support/runNarthex.ts"
import { inAcme, signedIn } from "./support/signedIn.ts"

const hostile = "Grace\u001b[2J"

/** Invited by Grace into her organization Engines. */
const invited = Effect.gen(function* () {
  const world = yield* signedIn
  return { ...world, engines: yield* Effect.promise(() => inviting(world, "ada")) }
})

const inviting = async ({ plane, signIn }: Pick<Effect.Success<typeof signedIn>, "plane" | "signIn">, name: string) => {
  const grace = await signIn("grace", "Grace")
  const { organization } = await grace.client.orgs.create({ name: "Engines" })
  const { access_token } = await grace.client.auth.switchOrg({ org_id: organization.id })
  const email = `${name}@example.com`
  const { invitation } = await plane.product
    .client(access_token)
    .invitations.invite({ org_id: organization.id, email, role: "member" })
  return { ...organization, invitation, grace: { ...invitation.invited_by, name: hostile } }
}

describe("invitation", () => {
  it.live("invitation list prints who invites into which organization, and escapes their names", () =>
    Effect.gen(function* () {
      const { engines, plane, run } = yield* invited
      const body = JSON.parse((yield* run(["invitation", "list", "-o", "json"])).stdout)
      assert.deepStrictEqual(
        body.invitations.map(({ organization, role }: typeof body) => [organization, role]),
        [[{ id: engines.id, name: "Engines" }, "member"]]
      )
      const [invitation] = body.invitations
      const invitations = [{ ...invitation, invited_by: engines.grace }]
      plane.instead = () => Response.json({ ...body, invitations })
      const { code, stdout } = yield* run(["invitation", "list"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^ID +ORGANIZATION +ROLE +INVITED BY +EXPIRES\n/)
      assert.include(
        stdout,
        `${invitation.id}  Engines       member  Grace\\u001b[2J <grace@example.com>  ${invitation.expires_at}`
      )
    }).pipe(Effect.scoped)
  )

  it.live("an empty invitation list is a sentence on stderr", () =>
    Effect.gen(function* () {
      const { run } = yield* signedIn
      const { code, stderr, stdout } = yield* run(["invitation", "list"])
      assert.deepStrictEqual([code, stdout], [0, ""])
      assert.match(stderr, /^No organization invites you\./)
    }).pipe(Effect.scoped)
  )

  it.live("invitation accept names the organization and says how to get a key for it", () =>
    Effect.gen(function* () {
      const { engines, run } = yield* invited
      const { code, stderr, stdout } = yield* run(["invitation", "accept", engines.invitation.id])
      assert.deepStrictEqual([code, stdout.trim()], [0, "You are a member of Engines (member)."])
      assert.match(stderr, /narthex login --context/)
    }).pipe(Effect.scoped)
  )

  it.live("invitation accept prints the organization as JSON", () =>
    Effect.gen(function* () {
      const { engines, run } = yield* invited
      const json = JSON.parse((yield* run(["invitation", "accept", engines.invitation.id, "-o", "json"])).stdout)
      assert.strictEqual(json.organization.id, engines.id)
    }).pipe(Effect.scoped)
  )

  it.live("a refused acceptance exits with 1 and prints the sentence of the API", () =>
    Effect.gen(function* () {
      const { engines, plane, run } = yield* invited
      plane.instead = () => problem("conflict", "Ask for a new invitation.")
      const { code, stderr } = yield* run(["invitation", "accept", engines.invitation.id])
      assert.strictEqual(code, 1)
      assert.match(stderr, /Ask for a new invitation\./)
    }).pipe(Effect.scoped)
  )

  it.live("invitation decline asks for --yes without a terminal, and refuses what is not an id", () =>
    Effect.gen(function* () {
      const { engines, plane, run } = yield* invited
      const { id } = engines.invitation
      assert.strictEqual((yield* run(["invitation", "decline", id])).code, 2)
      assert.strictEqual((yield* run(["invitation", "decline", "..", "--yes"])).code, 2)
      assert.isFalse(plane.requests.some(({ method }) => method === "POST"))
      assert.strictEqual((yield* run(["invitation", "decline", id, "--yes"])).code, 0)
      assert.strictEqual(plane.requests.at(-1)?.path, `/v1/invitations/${id}/decline`)
    }).pipe(Effect.scoped)
  )

  it.live("whoami names the inviter of a membership that is not confirmed", () =>
    Effect.gen(function* () {
      const world = yield* inAcme()
      const { home, plane, signIn } = world
      const { grace, name } = yield* Effect.promise(() => inviting(world, "eve"))
      const eve = yield* Effect.promise(() => signIn("eve", "Eve"))
      const variables = { NARTHEX_URL: plane.url, NARTHEX_API_KEY: eve.session.access_token }
      const who = runNarthex(["whoami", "-o", "json"], { home, variables })
      const real = JSON.parse((yield* who).stdout)
      assert.deepStrictEqual(real.invited_by, { ...grace, name: "Grace" })
      plane.instead = () => Response.json({ ...real, invited_by: grace })
      const { stderr } = yield* who
      assert.include(
        stderr,
        `Grace\\u001b[2J <grace@example.com> invited you to ${name}. Stay or leave in the console.`
      )
    }).pipe(Effect.scoped)
  )
})
