/**
 * The same services on your Postgres: all state survives the process, and any number of processes can share it.
 *
 *     DATABASE_URL=postgresql://… NARTHEX_MASTER_SECRET=$(node -p 'crypto.randomBytes(32).toString("base64url")') \
 *       node --conditions=source examples/embedOnPostgres.ts
 */
import * as Core from "@narthex/core"
import { Config, Console, Effect, Redacted } from "effect"
import { ControlPlane, postgres } from "narthex"
import { idToken, People } from "./people.ts"

export interface Store {
  readonly url: Redacted.Redacted
  /** 32 bytes as base64url: encrypts the signing keys in the database, and peppers the digests of API keys. */
  readonly master: Redacted.Redacted
}

export const embeddedOn = ({ master, url }: Store) =>
  ControlPlane.layer({
    storage: postgres(Redacted.value(url)),
    secret: Redacted.value(master),
    issuer: "https://api.example.com",
    identity: People
  })

/** Creates the project of this name unless it exists, and adds one network to its allowlist. */
export const program = (name: string) =>
  Effect.gen(function* () {
    const device = { user_agent: null, address: null }
    const session = yield* (yield* Core.Sessions).exchange(idToken("ada@example.com"), device)
    const caller = yield* (yield* Core.Authentication).authenticate(session.access_token, null)

    const projects = yield* Core.Projects
    const { items } = yield* projects.list(caller, { limit: 100, after: null })
    const known = items.find((project) => project.name === name)
    const project = known ?? (yield* projects.create(caller, { name, region: null })).project

    const allowlist = yield* Core.IpAllowlist
    yield* allowlist.add(project, { cidr: "203.0.113.0/24" }, caller.user.ref)
    const { allowed } = yield* allowlist.check(project.id, "198.51.100.7")
    yield* Console.log(
      `${project.id} was ${known ? "found" : "created"}; 198.51.100.7 ${allowed ? "may" : "may not"} connect`
    )
    return { allowed, known: known !== undefined, project, token: session.access_token }
  })

if (import.meta.main) {
  const store = Config.all({ url: Config.Redacted("DATABASE_URL"), master: Config.Redacted("NARTHEX_MASTER_SECRET") })
  await Effect.runPromise(Effect.flatMap(store, (settings) => Effect.provide(program("shop"), embeddedOn(settings))))
}
