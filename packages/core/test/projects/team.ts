/** An organization with two people, their keys and a project, and the credentials that they mint. */
import { DateTime, Effect } from "effect"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import type { Branch } from "../../src/records/projects/Branch.ts"
import type { Access } from "../../src/records/projects/BranchRole.ts"
import type { Project } from "../../src/records/projects/Project.ts"
import { permissionsOf } from "../../src/rules/authorization/Permission.ts"
import type { AnyCaller, SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { keyCallerOf, settle, signedIn } from "../memory/core.ts"

/** An organization of Ada's with a project; Bob is a member of it, and has a key and an agent key there. */
export const setting = Effect.gen(function* () {
  const organizations = yield* Organizations
  const founder = yield* signedIn("ada")
  const { id: org_id } = yield* organizations.create(founder, "team")
  const inside = Effect.fnUntraced(function* (person: SessionCaller, role: string) {
    const joined_at = yield* DateTime.now
    yield* (yield* AccountStore).putMembership(new Membership({ org_id, user_id: person.user.id, role, joined_at }))
    const organization = { ...person.organization, id: org_id, personal: false, role }
    return { ...person, org_id, organization, permissions: permissionsOf(role) } satisfies SessionCaller
  })
  const ada = yield* inside(founder, "owner")
  const bob = yield* inside(yield* signedIn("bob"), "member")
  const { branch: main, project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
  yield* settle
  const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
  const { branch: child } = yield* (yield* Branches).create(ada, project, wanted)
  yield* settle
  const key = yield* keyCallerOf(bob, "read_write")
  const agent = yield* keyCallerOf(bob, "agent")
  return { ada, agent, bob, child, key, main, org_id, project }
})
export type Setting = Effect.Success<typeof setting>

export const mint = (
  { child, project }: { readonly child: Branch; readonly project: Project },
  caller: AnyCaller,
  access: Access = "read_write",
  ttl: number | null = null
) =>
  Effect.flatMap(Credentials, (credentials) => credentials.mint(caller, project, child, access, ttl)).pipe(
    Effect.map(({ credential }) => credential)
  )
export const roleOf = Effect.fnUntraced(function* (...minting: Parameters<typeof mint>) {
  return (yield* mint(...minting)).role
})

/** Every credential that the ends are told apart by. */
export const minted = Effect.fnUntraced(function* (at: Setting) {
  return {
    ada: yield* roleOf(at, at.ada),
    reader: yield* roleOf(at, at.bob, "read_only"),
    writer: yield* roleOf(at, at.bob),
    key: yield* roleOf(at, at.key),
    agent: yield* roleOf(at, at.agent)
  }
})
