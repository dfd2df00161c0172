/**
 * Mints, lists and revokes credentials of a branch: Postgres roles with a password and a connection string
 * (docs/design/api.md, Projects, branches, endpoints, operations). The password is returned once and never stored. API
 * keys are in `key-issuing/`.
 *
 * Minting never starts a compute: a role of a suspended branch is applied at the next start. On a running branch the
 * operation `apply_config` applies it, and minting waits for that.
 *
 * Pitfall: reading whether the branch is main before the transaction that mints. The branch may become main in between,
 * and an agent would keep write access to it. The same holds for the caller: its key, membership and account are held
 * until the commit, so whatever ends one of them ends the new role too.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, type Redacted, Schema } from "effect"
import { encodeCursor, MalformedCursor, type Page, type PageRequest } from "../../Page.ts"
import { Conflict, InvalidCredential, type InvalidMember, NotFound, orNotFound, Refused } from "../../Refusals.ts"
import { CredentialStore } from "../../records/access/CredentialStore.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import type { Branch } from "../../records/projects/Branch.ts"
import { type Access, BranchRole, CredentialView } from "../../records/projects/BranchRole.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import { connectionUri, ProxyAddress } from "../../records/projects/ProxyAddress.ts"
import { makeRoleSecret } from "../../records/projects/RoleSecret.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import { decideTarget } from "../../rules/authorization/decide.ts"
import { narrowCaller, stillMay } from "../../rules/authorization/narrowCaller.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { Roles } from "../../rules/authorization/Roles.ts"
import { visibleRoles } from "../../rules/authorization/visibleRoles.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { initiatorOf, type Operations } from "../operations/Operations.ts"
import { OperationWaits } from "../operations/OperationWaits.ts"
import type { Quotas } from "../quotas/Quotas.ts"
import { makeApplyRoles } from "./applyRoles.ts"
import { expiryOf, type Lifetime } from "./lifetime.ts"
import { makeMayMintMore } from "./mayMintMore.ts"

export interface MintedCredential {
  readonly credential: CredentialView
  readonly password: Redacted.Redacted
  readonly connection_uri: Redacted.Redacted
}

/**
 * The change is recorded, but no compute has confirmed it in time. A retried minting mints another role; a retried
 * revocation waits again.
 */
export class NotApplied extends Schema.TaggedError<NotApplied>()("NotApplied", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

/** How long a call waits until a running compute confirms a role, or its end. */
export const ConfirmationLimit = Context.Reference<Duration.Duration>(
  "@narthex/core/services/projects/ConfirmationLimit",
  {
    defaultValue: () => Duration.seconds(10)
  }
)

type Unminted = Conflict | InvalidCredential | InvalidMember | NotFound | QuotaExceeded | Refused | StorageError

export class Credentials extends Context.Service<
  Credentials,
  {
    /**
     * Mints a role and returns once it works. `ttl_seconds` `null`: an hour for agent keys, else as long as the key that
     * mints it. `InvalidMember`: longer than the caller may ask for.
     */
    readonly mint: (
      caller: AnyCaller,
      project: Project,
      branch: Branch,
      access: Access,
      ttl_seconds: number | null
    ) => Effect.Effect<MintedCredential, Unminted | NotApplied>
    /**
     * As `mint`, on a branch that the same request created: returns at once, because its first start applies the role.
     * The role expires with the branch.
     */
    readonly mintOnNew: (
      caller: AnyCaller,
      project: Project,
      branch: Branch,
      access: Access
    ) => Effect.Effect<MintedCredential, Unminted>
    /** The credentials that the caller may see, newest first: valid ones, and ended ones until a compute confirms it. */
    readonly list: (
      caller: AnyCaller,
      branch: Branch,
      page: PageRequest
    ) => Effect.Effect<Page<CredentialView>, MalformedCursor | StorageError>
    /**
     * Revokes a role, and returns once its sessions have ended. `NotApplied`: it is revoked, and its sessions have not
     * ended yet; a repeated call waits again. `NotFound`: its end was confirmed before.
     */
    readonly revoke: (
      caller: AnyCaller,
      project: Project,
      role: BranchRole
    ) => Effect.Effect<void, NotFound | NotApplied | StorageError>
  }
>()("@narthex/core/services/projects/Credentials") {
  static readonly layer: Layer.Layer<
    Credentials,
    never,
    | BranchRoleStore
    | BranchStore
    | CredentialStore
    | EndpointStore
    | Operations
    | OperationStore
    | OperationWaits
    | Quotas
    | Transaction
  > = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const roles = yield* BranchRoleStore
      const standings = yield* CredentialStore
      const waits = yield* OperationWaits
      const confirmation_limit = yield* ConfirmationLimit
      const { apply, applying } = yield* makeApplyRoles
      const pending = yield* OperationStore
      const mayMintMore = yield* makeMayMintMore
      const { afterCommit, run } = yield* Transaction

      /** Holds what the caller acts by, and decides again whether that permits to mint. */
      const held = Effect.fnUntraced(function* (caller: AnyCaller, access: Access, now: DateTime.Utc) {
        const key = caller.kind === "api_key" ? caller.api_key_id : null
        const standing = Option.getOrUndefined(yield* standings.hold(caller.org_id, caller.user.id, key))
        if (standing === undefined)
          return yield* new Refused({ code: "not_a_member", required: "membership", held: null })
        const keyEnded = standing.key !== null && (standing.key.revoked_at !== null || standing.key.expiredAt(now))
        if (standing.user.disabled_at !== null || keyEnded) return yield* new InvalidCredential({})
        yield* stillMay(
          narrowCaller(caller, standing.role, yield* Roles),
          access === "read_write" ? "mint_read_write" : "mint_read_only"
        )
      })

      /** Records the role. `awaited` is the operation after which Postgres knows it. */
      const record = Effect.fn("Credentials.record")(function* (
        caller: AnyCaller,
        project: Project,
        given: Branch,
        access: Access,
        lifetime: Lifetime
      ) {
        const proxy = yield* ProxyAddress
        const byKey = caller.kind === "api_key"
        const secret = yield* makeRoleSecret
        const step = Effect.gen(function* () {
          const branch = yield* orNotFound(branches.lock(given.project_id, given.id))
          const refusal = decideTarget({ agent: access === "read_write" ? "not_main" : "any" }, caller, branch)
          if (refusal !== undefined) return yield* new Refused(refusal)
          const now = yield* DateTime.now
          yield* held(caller, access, now)
          yield* mayMintMore(caller, project.org_id, branch)
          const [endpoint] = (yield* endpoints.ofBranch(branch.id)).toSorted((a, b) =>
            a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type === "read_write" ? -1 : 1
          )
          if (endpoint === undefined)
            return yield* new Conflict({ reason: "The branch has no endpoint to connect to. Create one first." })
          const role = new BranchRole({
            role: secret.role,
            org_id: project.org_id,
            project_id: branch.project_id,
            branch_id: branch.id,
            access,
            verifier: secret.verifier,
            minted_by_agent: byKey && caller.capability === "agent",
            minted_by: caller.user.ref,
            api_key_id: byKey ? caller.api_key_id : null,
            api_key_name: byKey ? caller.api_key_name : null,
            created_at: now,
            expires_at: yield* Effect.fromResult(expiryOf(caller, branch, lifetime, now)),
            revoked_at: null,
            applied_at: null,
            removed_at: null
          })
          yield* roles.insert(role)
          const awaited = yield* apply({ project, branch_id: branch.id, initiator: initiatorOf(caller) })
          const [making] = yield* pending.unfinished(branch.id, {
            actions: ["create_timeline", "create_branch"],
            limit: 1
          })
          return { awaited: awaited ?? making, endpoint, role }
        })
        const { awaited, endpoint, role } = yield* run(step)
        const shown = {
          password: secret.password,
          connection_uri: connectionUri(proxy, endpoint, role.role, secret.password)
        }
        return { awaited, role, shown }
      })

      /** Waits until a running compute has what the operation brings it. */
      const confirmed = (awaited: StoredOperation, reason: string) =>
        Effect.flatMap(waits.settled(awaited.id, confirmation_limit), (settled) =>
          Option.exists(settled, (it) => it.status === "finished") ? Effect.void : new NotApplied({ reason })
        )

      const mint: Credentials["Service"]["mint"] = Effect.fn("Credentials.mint")(
        function* (caller, project, branch, access, ttl_seconds) {
          const lifetime = ttl_seconds === null ? "default" : { seconds: ttl_seconds }
          const { awaited, role, shown } = yield* record(caller, project, branch, access, lifetime)
          if (awaited === undefined) return { credential: new CredentialView({ ...role, state: "pending" }), ...shown }
          yield* afterCommit(confirmed(awaited, "The branch is busy. Try again in a moment."))
          const state = awaited.action === "apply_config" ? "active" : "pending"
          return { credential: new CredentialView({ ...role, state }), ...shown }
        }
      )

      const list: Credentials["Service"]["list"] = Effect.fn("Credentials.list")(function* (caller, branch, page) {
        const after = page.after === null ? null : positionOf(page.after)
        if (after === undefined) return yield* new MalformedCursor({})
        const now = yield* DateTime.now
        const rows = yield* roles.list(branch.id, visibleRoles(caller), { limit: page.limit + 1, after })
        const shown = rows.slice(0, page.limit)
        const last = shown.at(-1)
        return {
          items: shown.map((role) => role.viewAt(now)),
          next_cursor: rows.length > page.limit && last !== undefined ? encodeCursor(textOf(last)) : null
        }
      })

      const revoke: Credentials["Service"]["revoke"] = Effect.fn("Credentials.revoke")(function* (
        caller,
        project,
        { branch_id, role }
      ) {
        const step = Effect.gen(function* () {
          yield* orNotFound(branches.lock(project.id, branch_id))
          const revoked = yield* roles.revoke({ branch_id, role }, yield* DateTime.now)
          const found = yield* orNotFound(roles.find(branch_id, role))
          if (found.removed_at !== null) return yield* new NotFound({})
          // A repeated call waits for the operation that the first one scheduled.
          const last = yield* applying(branch_id)
          if (revoked === 0 && last?.action === "apply_config") return last
          return yield* apply({ project, branch_id, initiator: initiatorOf(caller) })
        })
        const awaited = yield* run(step)
        if (awaited === undefined) return
        yield* afterCommit(
          confirmed(
            awaited,
            "The credential is revoked, and the end of its sessions is not confirmed yet. Repeat the call to wait for it."
          )
        )
      })

      return Credentials.of({
        mint,
        mintOnNew: (caller, project, branch, access) =>
          Effect.map(record(caller, project, branch, access, "branch"), ({ role, shown }) => ({
            credential: new CredentialView({ ...role, state: "pending" }),
            ...shown
          })),
        list,
        revoke
      })
    })
  )
}

/** The place of a role in a list, as the text of a cursor. */
const textOf = ({ created_at, role }: BranchRole) => `${created_at.epochMilliseconds}-${role}`

const positionOf = (text: string) => {
  const [, millis, role] = /^(\d{1,15})-(role_[a-z0-9]{16})$/.exec(text) ?? []
  return millis === undefined || role === undefined
    ? undefined
    : { created_at: DateTime.makeUnsafe(Number(millis)), role }
}
