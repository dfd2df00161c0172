/**
 * Mints credentials of a branch: Postgres roles with a password and a connection string (docs/design/api.md, Projects,
 * branches, endpoints, operations). The password is returned once and never stored. API keys are in `key-issuing/`.
 *
 * Minting never starts a compute: a role of a suspended branch is applied at the next start. On a running branch the
 * operation `apply_config` applies it, and minting waits for that.
 *
 * Pitfall: reading whether the branch is main before the transaction that mints. The branch may become main in between,
 * and an agent would keep write access to it.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { decideTarget } from "../authorization/decide.ts"
import type { AnyCaller } from "../authorization/Principal.ts"
import { OperationStore } from "../operations/OperationStore.ts"
import { initiatorOf, Operations } from "../operations/Operations.ts"
import { OperationWaits } from "../operations/OperationWaits.ts"
import type { Branch } from "../projects/Branch.ts"
import { type Access, BranchRole } from "../projects/BranchRole.ts"
import { BranchRoleStore } from "../projects/BranchRoleStore.ts"
import { BranchStore } from "../projects/BranchStore.ts"
import { EndpointStore } from "../projects/EndpointStore.ts"
import type { Project } from "../projects/Project.ts"
import { connectionUri, ProxyAddress } from "../projects/ProxyAddress.ts"
import { makeRoleSecret } from "../projects/RoleSecret.ts"
import { Conflict, type NotFound, orNotFound, Refused } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"

export interface MintedCredential {
  readonly credential: { readonly role: string; readonly access: Access; readonly expires_at: DateTime.Utc | null }
  readonly password: Redacted.Redacted
  readonly connection_uri: Redacted.Redacted
}

/** The role is recorded, but was not applied to the running compute in time. A retry mints another role and is safe. */
export class NotApplied extends Schema.TaggedError<NotApplied>()("NotApplied", {}) {
  override get message() {
    return "The branch is busy. Try again in a moment."
  }
}

/** How long minting waits until the role is applied. */
const applyTimeout = Duration.seconds(10)
/** Lifetime in seconds of a role that an agent key mints without naming one. */
const agentLifetime = 3600

export class Credentials extends Context.Service<
  Credentials,
  {
    /** Mints a role and returns once it works. `ttl_seconds` `null`: an hour for agent keys, else it never expires. */
    readonly mint: (
      caller: AnyCaller,
      project: Project,
      branch: Branch,
      access: Access,
      ttl_seconds: number | null
    ) => Effect.Effect<MintedCredential, Conflict | NotFound | Refused | NotApplied | StorageError>
    /** As `mint`, on a branch that the same request created: returns at once, because its first start applies the role. */
    readonly mintOnNew: (
      caller: AnyCaller,
      project: Project,
      branch: Branch,
      access: Access,
      ttl_seconds: number | null
    ) => Effect.Effect<MintedCredential, Conflict | NotFound | Refused | StorageError>
  }
>()("@narthex/core/provisioning/Credentials") {
  static readonly layer: Layer.Layer<
    Credentials,
    never,
    BranchRoleStore | BranchStore | EndpointStore | Operations | OperationStore | OperationWaits | Transaction
  > = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const operations = yield* Operations
      const pending = yield* OperationStore
      const roles = yield* BranchRoleStore
      const waits = yield* OperationWaits
      const { afterCommit, run } = yield* Transaction

      /** Records the role. `awaited` is the operation after which Postgres knows it. */
      const record = Effect.fn("Credentials.record")(function* (
        caller: AnyCaller,
        project: Project,
        given: Branch,
        access: Access,
        ttl_seconds: number | null
      ) {
        const proxy = yield* ProxyAddress
        const byAgent = caller.kind === "api_key" && caller.capability === "agent"
        const secret = yield* makeRoleSecret
        const step = Effect.gen(function* () {
          const branch = yield* orNotFound(branches.lock(given.project_id, given.id))
          const refusal = decideTarget({ agent: access === "read_write" ? "not_main" : "any" }, caller, branch)
          if (refusal !== undefined) return yield* new Refused(refusal)
          const [endpoint] = (yield* endpoints.ofBranch(branch.id)).toSorted((a, b) =>
            a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type === "read_write" ? -1 : 1
          )
          if (endpoint === undefined)
            return yield* new Conflict({ reason: "The branch has no endpoint to connect to. Create one first." })
          const now = yield* DateTime.now
          const seconds = ttl_seconds ?? (byAgent ? agentLifetime : null)
          const role = new BranchRole({
            role: secret.role,
            project_id: branch.project_id,
            branch_id: branch.id,
            access,
            verifier: secret.verifier,
            minted_by_agent: byAgent,
            created_at: now,
            expires_at: seconds === null ? null : DateTime.addDuration(now, Duration.seconds(seconds)),
            revoked_at: null
          })
          yield* roles.insert(role)
          const unfinished = yield* pending.unfinished(branch.id)
          const making = unfinished.find((it) => it.action === "create_timeline" || it.action === "create_branch")
          const starting = unfinished.some((it) => it.action === "start_compute")
          const runs = (yield* endpoints.ofBranch(branch.id)).some((it) => it.current_state === "active")
          const work = { project, branch_id: branch.id, endpoint_id: null, initiator: initiatorOf(caller) }
          const apply = runs || starting ? yield* operations.schedule({ ...work, action: "apply_config" }) : undefined
          return { awaited: apply ?? making, endpoint, role }
        })
        const { awaited, endpoint, role } = yield* run(step)
        const minted: MintedCredential = {
          credential: { role: role.role, access, expires_at: role.expires_at },
          password: secret.password,
          connection_uri: connectionUri(proxy, endpoint, role.role, secret.password)
        }
        return { awaited, minted }
      })

      const mint: Credentials["Service"]["mint"] = Effect.fn("Credentials.mint")(function* (...asked) {
        const { awaited, minted } = yield* record(...asked)
        if (awaited === undefined) return minted
        const applied = Effect.flatMap(waits.settled(awaited.id, applyTimeout), (settled) =>
          Option.exists(settled, (it) => it.status === "finished") ? Effect.void : new NotApplied({})
        )
        yield* afterCommit(applied)
        return minted
      })

      return Credentials.of({
        mint,
        mintOnNew: (...asked) => Effect.map(record(...asked), ({ minted }) => minted)
      })
    })
  )
}
