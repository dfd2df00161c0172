/** The operator's commands on accounts: list, enable, disable (`narthex-server accounts …`). */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import { requestedId, UserId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { type NotFound, orNotFound } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { personalOrgId } from "../../records/accounts/Organization.ts"
import { User } from "../../records/accounts/User.ts"
import { AuditLog } from "../../records/audit/AuditLog.ts"
import { noteAct, operatorActor } from "../../records/audit/noteAct.ts"
import { userRevoked } from "../../records/events/InternalEvents.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"

export class OperatorAccounts extends Context.Service<
  OperatorAccounts,
  {
    /** Oldest first. */
    readonly list: (page: PageRequest) => Effect.Effect<Page<User>, StorageError>
    /** The accounts that the text names: an id, or an address, which accounts of several providers may share. */
    readonly find: (name: string) => Effect.Effect<ReadonlyArray<User>, StorageError>
    /** Activates a pending account and reinstates a disabled one. */
    readonly enable: (user: UserId) => Effect.Effect<User, NotFound | StorageError>
    /**
     * Every credential of the account is refused from the next request on. The database credentials that it minted end
     * for good: enabling the account does not bring them back.
     */
    readonly disable: (user: UserId) => Effect.Effect<User, NotFound | StorageError>
  }
>()("@narthex/core/services/organizations/OperatorAccounts") {
  static readonly layer: Layer.Layer<OperatorAccounts, never, AccountStore | AuditLog | BranchRoleStore | Transaction> =
    Layer.effect(
      OperatorAccounts,
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const roles = yield* BranchRoleStore
        const note = noteAct(yield* AuditLog)
        const { emit, run } = yield* Transaction

        const change = (
          action: "account.enabled" | "account.disabled",
          id: UserId,
          edit: (user: User, now: DateTime.Utc) => User
        ) =>
          run(
            Effect.gen(function* () {
              const { issuer, subject } = yield* orNotFound(accounts.findUser(id))
              const user = edit(yield* orNotFound(accounts.lockUserByIdentity(issuer, subject)), yield* DateTime.now)
              yield* accounts.putUser(user)
              if (user.disabled_at !== null) yield* roles.revoke({ user_id: id }, yield* DateTime.now)
              if (user.disabled_at !== null) yield* emit(userRevoked(personalOrgId(id), id))
              const targets = [{ type: "user", id, name: user.email ?? user.name }]
              yield* note({ org_id: personalOrgId(id), action, actor: operatorActor, targets })
              return user
            })
          )

        return OperatorAccounts.of({
          list: accounts.users,
          find: (name) =>
            name.includes("@")
              ? accounts.usersByEmail(name)
              : Effect.map(accounts.findUser(requestedId(UserId, name)), Option.toArray),
          enable: (id) =>
            change(
              "account.enabled",
              id,
              (user, now) => new User({ ...user, enabled_at: user.enabled_at ?? now, disabled_at: null })
            ),
          disable: (id) =>
            change("account.disabled", id, (user, now) => new User({ ...user, disabled_at: user.disabled_at ?? now }))
        })
      })
    )
}
