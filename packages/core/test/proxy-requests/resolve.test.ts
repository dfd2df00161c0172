/** The answer to a proxy that resolves an endpoint and a role: docs/design/proxy.md P9 and P36. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Core, settle, signedIn } from "../memory/core.ts"

const made = Effect.gen(function* () {
  const ada = yield* signedIn("ada")
  const { branch, endpoint, project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
  yield* settle
  const { credential } = yield* (yield* Credentials).mint(ada, project, branch, "read_write", 3_600)
  return { branch, endpoint, role: credential.role }
})

const verifierOf = (endpoint: Endpoint["id"], role?: string) =>
  Effect.map(
    Effect.flatMap(ProxyRequests, ({ resolve }) => resolve(endpoint, role)),
    ({ verifier }) => verifier
  )

describe("Resolving a role", () => {
  it.effect("a valid role has its verifier, and a role that was revoked or has expired has none", () =>
    Effect.gen(function* () {
      const { branch, endpoint, role } = yield* made
      const roles = yield* BranchRoleStore
      const stored = Option.getOrThrow(yield* roles.find(branch.id, role))
      assert.strictEqual(yield* verifierOf(endpoint.id, role), stored.verifier)
      yield* TestClock.adjust("1 hour")
      assert.isNull(yield* verifierOf(endpoint.id, role))
    }).pipe(Effect.provide(Core))
  )

  it.effect("a role that was revoked has no verifier, before any compute has confirmed it", () =>
    Effect.gen(function* () {
      const { branch, endpoint, role } = yield* made
      const roles = yield* BranchRoleStore
      const { created_at } = Option.getOrThrow(yield* roles.find(branch.id, role))
      yield* roles.revoke({ branch_id: branch.id, role }, created_at)
      assert.isNull(yield* verifierOf(endpoint.id, role))
    }).pipe(Effect.provide(Core))
  )

  it.effect("a role of another branch, and a name that no minted role has, have no verifier", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* made
      const other = yield* made
      for (const name of [other.role, "narthex", "postgres", "", "role_", `${other.role}__read_only`, "a\u0000b"])
        assert.isNull(yield* verifierOf(endpoint.id, name), JSON.stringify(name))
    }).pipe(Effect.provide(Core))
  )

  it.effect("an answer without a role has no verifier, but says how the compute is reached", () =>
    Effect.gen(function* () {
      const { endpoint } = yield* made
      const store = yield* EndpointStore
      const { resolve } = yield* ProxyRequests
      assert.notProperty(yield* resolve(endpoint.id), "verifier")
      const reach = { tls: { ca: null }, own_roles: true }
      const stored = Option.getOrThrow(yield* store.findAnywhere(endpoint.id))
      yield* store.put(new Endpoint({ ...stored, reach }))
      assert.deepInclude(yield* resolve(endpoint.id), reach)
    }).pipe(Effect.provide(Core))
  )
})
