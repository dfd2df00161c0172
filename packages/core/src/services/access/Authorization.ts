/**
 * Runs the order of answers for one call (docs/design/authorization.md Z6), from step 4 on. Steps 1 to 3, the route and
 * the credential, came before.
 *
 * - Steps 4 to 9, `decide`, nothing is looked up: pending account, membership, kind of credential, scope by the ids in
 *   the path, capability, role.
 * - A replay of an idempotency key answers here.
 * - Step 10: the object, inside the caller's organization, or 404.
 * - Step 11, `decideTarget`: *main* and what an agent's key made.
 *
 * The body and the object's state, step 12, are the handler's and the service's.
 *
 * The object is passed on as the call's `Target`, so that handlers do not look it up again. Handlers must not look up
 * anything else by an id of the path.
 */
import { Context, Effect, Layer, Option } from "effect"
import { ApiKeyId, BranchId, EndpointId, OperationId, ProjectId, requestedId, UserId, WebhookId } from "../../Ids.ts"
import { NotFound, orNotFound, Refused } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import type { BranchScope, StoredApiKey } from "../../records/keys/ApiKey.ts"
import { ApiKeyStore } from "../../records/keys/ApiKeyStore.ts"
import type { StoredOperation } from "../../records/operations/Operation.ts"
import { OperationStore } from "../../records/operations/OperationStore.ts"
import type { Branch } from "../../records/projects/Branch.ts"
import { type BranchRole, isRoleName } from "../../records/projects/BranchRole.ts"
import { BranchRoleStore, isOwned } from "../../records/projects/BranchRoleStore.ts"
import { BranchStore } from "../../records/projects/BranchStore.ts"
import type { Endpoint } from "../../records/projects/Endpoint.ts"
import { EndpointStore } from "../../records/projects/EndpointStore.ts"
import type { Project } from "../../records/projects/Project.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import { WebhookStore } from "../../records/webhooks/WebhookStore.ts"
import { requestSpan } from "../../requestSpan.ts"
import { decide, decideTarget, type PathIds, type Refusal, sufficientScope } from "../../rules/authorization/decide.ts"
import type { CredentialPolicy } from "../../rules/authorization/Policy.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { visibleRoles } from "../../rules/authorization/visibleRoles.ts"
import type { StorageError } from "../../StorageError.ts"

/** The objects that the path names. */
export interface Found {
  readonly project?: Project
  readonly branch?: Branch
  readonly endpoint?: Endpoint
  readonly operation?: StoredOperation
  readonly api_key?: StoredApiKey
  readonly credential?: BranchRole
}

/** The objects of the running call. */
export class Target extends Context.Service<Target, Found>()("@narthex/core/services/access/Target") {
  static readonly project = Target.use(({ project }) => required(project))
  static readonly branch = Target.use(({ branch }) => required(branch))
  static readonly endpoint = Target.use(({ endpoint }) => required(endpoint))
  static readonly operation = Target.use(({ operation }) => required(operation))
  static readonly apiKey = Target.use(({ api_key }) => required(api_key))
  static readonly credential = Target.use(({ credential }) => required(credential))
}

const required = <A>(found: A | undefined): Effect.Effect<A> =>
  found === undefined
    ? Effect.die(new Error("The policy of this endpoint names no such target."))
    : Effect.succeed(found)

export class Authorization extends Context.Service<
  Authorization,
  {
    /** Steps 4 to 9: from the credential and the ids in the path alone. */
    readonly admit: (
      policy: CredentialPolicy,
      caller: AnyCaller,
      ids: PathIds
    ) => Effect.Effect<void, Refused | StorageError>
    /** Steps 10 and 11, after `admit`: the object that the path names, if the caller may apply the call to it. */
    readonly find: (
      policy: CredentialPolicy,
      caller: AnyCaller,
      ids: PathIds
    ) => Effect.Effect<Found, Refused | NotFound | StorageError>
  }
>()("@narthex/core/services/access/Authorization") {
  static readonly layer: Layer.Layer<
    Authorization,
    never,
    | AccountStore
    | ApiKeyStore
    | BranchRoleStore
    | BranchStore
    | EndpointStore
    | OperationStore
    | ProjectStore
    | WebhookStore
  > = Layer.effect(
    Authorization,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const keys = yield* ApiKeyStore
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const operations = yield* OperationStore
      const projects = yield* ProjectStore
      const roles = yield* BranchRoleStore
      const webhooks = yield* WebhookStore

      const findOperation = (project: ProjectId, id: string | undefined) =>
        orNotFound(
          Effect.map(
            operations.find(requestedId(OperationId, id)),
            Option.filter((row) => row.project_id === project)
          )
        )

      const apiKey = Effect.fnUntraced(function* (caller: AnyCaller, id: string | undefined) {
        const row = yield* orNotFound(keys.find(caller.org_id, requestedId(ApiKeyId, id)))
        const visible = row.key.created_by.id === caller.user.id || caller.permissions.has("manage_keys")
        const own = caller.kind === "api_key" && caller.api_key_id === row.key.id
        return row.key.revoked_at === null && (visible || own) ? { api_key: row } : yield* new NotFound({})
      })

      /** A credential that the caller may not see is not found, like one whose end was confirmed. */
      const credential = Effect.fnUntraced(function* (caller: AnyCaller, branch: Branch, role = "") {
        const found = isRoleName(role) ? yield* roles.find(branch.id, role) : Option.none()
        return yield* orNotFound(
          Effect.succeed(Option.filter(found, (it) => it.removed_at === null && isOwned(it, visibleRoles(caller))))
        )
      })

      const lookUp = Effect.fnUntraced(function* (
        policy: CredentialPolicy,
        caller: AnyCaller,
        ids: PathIds
      ): Effect.fn.Return<Found, NotFound | StorageError> {
        if (policy.target === "none") return {}
        if (policy.target === "organization" || policy.target === "member" || policy.target === "webhook") {
          if (ids.org_id !== caller.org_id) return yield* new NotFound({})
          if (policy.target === "member")
            yield* orNotFound(accounts.findMembership(caller.org_id, requestedId(UserId, ids.user_id)))
          if (policy.target === "webhook")
            yield* orNotFound(webhooks.find(caller.org_id, requestedId(WebhookId, ids.webhook_id)))
          return {}
        }
        if (policy.target === "api_key") return yield* apiKey(caller, ids.api_key_id)
        const project = yield* orNotFound(projects.find(caller.org_id, requestedId(ProjectId, ids.project_id)))
        switch (policy.target) {
          case "project":
            return { project }
          case "branch":
            return {
              project,
              branch: yield* orNotFound(branches.find(project.id, requestedId(BranchId, ids.branch_id)))
            }
          case "credential": {
            const branch = yield* orNotFound(branches.find(project.id, requestedId(BranchId, ids.branch_id)))
            return { project, branch, credential: yield* credential(caller, branch, ids.role) }
          }
          case "endpoint": {
            const endpoint = yield* orNotFound(endpoints.find(project.id, requestedId(EndpointId, ids.endpoint_id)))
            return { project, endpoint, branch: yield* orNotFound(branches.find(project.id, endpoint.branch_id)) }
          }
          case "operation":
            return { project, operation: yield* findOperation(project.id, ids.operation_id) }
        }
      })

      /**
       * The part of step 7 that looks something up, for branch keys. An endpoint or operation outside of the key's
       * branch is out of scope, whether it exists or not. So is a call whose reach on *main* is wider, if the key's
       * branch is *main*.
       */
      const insideBranch = Effect.fnUntraced(function* (
        policy: CredentialPolicy,
        { branch_id, project_id }: typeof BranchScope.Type,
        ids: PathIds
      ) {
        const outside = new Refused({ code: "scope_insufficient", required: sufficientScope(policy), held: "branch" })
        if (policy.target === "branch" && policy.reach_main === "project") {
          const branch = yield* branches.find(project_id, branch_id)
          if (Option.exists(branch, ({ main }) => main)) return yield* outside
        }
        if (policy.target !== "endpoint" && policy.target !== "operation") return
        const found: Option.Option<{ readonly branch_id: BranchId | null }> =
          policy.target === "endpoint"
            ? yield* endpoints.find(project_id, requestedId(EndpointId, ids.endpoint_id))
            : Option.filter(
                yield* operations.find(requestedId(OperationId, ids.operation_id)),
                (it) => it.project_id === project_id
              )
        if (!Option.exists(found, (it) => it.branch_id === branch_id)) return yield* outside
      })

      const refuseIf = (refusal: Refusal | undefined) => (refusal === undefined ? Effect.void : new Refused(refusal))
      const [admitting, finding] = [requestSpan("Authorization.admit"), requestSpan("Authorization.find")]

      return Authorization.of({
        admit: (policy, caller, ids) => {
          const refusal = decide(policy, caller, ids)
          // Steps 8 and 9 come after the whole of step 7, and the part of it that looks inside the branch is here.
          const looks =
            refusal === undefined || refusal.code === "capability_insufficient" || refusal.code === "role_insufficient"
          const refused = refuseIf(refusal)
          const scope = caller.kind === "api_key" && caller.scope.type === "branch" ? caller.scope : undefined
          // Most callers are not narrowed to a branch, and their requests pay nothing for it.
          return admitting(
            looks && scope !== undefined ? Effect.andThen(insideBranch(policy, scope, ids), refused) : refused
          )
        },
        find: (policy, caller, ids) =>
          finding(
            Effect.tap(lookUp(policy, caller, ids), ({ branch }) => refuseIf(decideTarget(policy, caller, branch)))
          )
      })
    })
  )
}
