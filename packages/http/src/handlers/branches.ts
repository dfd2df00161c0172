/** Serves `BranchesApi` from the core. */
import { Api } from "@narthex/api"
import { AppliedPolicy, Branches, BranchSizes, Credentials, Principal, Target, viewBranch } from "@narthex/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { endpointRecord, operationRecords, pageOf } from "./records.ts"

export const BranchesHandlers = HttpApiBuilder.group(
  Api,
  "branches",
  Effect.fn(function* (handlers) {
    const branches = yield* Branches
    const credentials = yield* Credentials
    const sizes = yield* BranchSizes
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(branches.list(yield* Principal, yield* Target.project, page))
        const measured = yield* problems(sizes.of(items))
        return { branches: items.map((branch) => viewBranch(branch, measured)), pagination: { next_cursor } }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* Principal
        const made = yield* problems(
          branches.create(caller, yield* Target.project, {
            name: payload.name ?? null,
            parent_id: payload.parent_id ?? null,
            protected: payload.protected ?? false,
            ttl_seconds: payload.ttl_seconds ?? null,
            endpoint: payload.endpoint ?? false
          })
        )
        const endpoint = made.endpoint === null ? null : yield* endpointRecord(made.endpoint)
        return { branch: viewBranch(made.branch), endpoint, operations: operationRecords(made.operations) }
      }),
      get: Effect.fnUntraced(function* () {
        const branch = yield* Target.branch
        return { branch: viewBranch(branch, yield* problems(sizes.of([branch]))) }
      }),
      change: Effect.fnUntraced(function* ({ payload }) {
        const caller = yield* Principal
        const policy = yield* AppliedPolicy
        const branch = yield* Target.branch
        // Read before the change: after it, a failure would hide that it was made.
        const measured = yield* problems(sizes.of([branch]))
        return { branch: viewBranch(yield* problems(branches.change(caller, policy, branch, payload)), measured) }
      }),
      delete: Effect.fnUntraced(function* () {
        const policy = yield* AppliedPolicy
        return {
          operations: operationRecords(yield* problems(branches.remove(yield* Principal, policy, yield* Target.branch)))
        }
      }),
      reset: Effect.fnUntraced(function* () {
        const policy = yield* AppliedPolicy
        const { branch, operations } = yield* problems(branches.reset(yield* Principal, policy, yield* Target.branch))
        return { branch: viewBranch(branch), operations: operationRecords(operations) }
      }),
      setDefault: Effect.fnUntraced(function* () {
        const branch = yield* Target.branch
        const measured = yield* problems(sizes.of([branch]))
        const made = yield* problems(branches.setDefault(yield* Principal, branch))
        return { branch: viewBranch(made.branch, measured), operations: operationRecords(made.operations) }
      }),
      mint: Effect.fnUntraced(function* ({ payload: { access, ttl_seconds = null } }) {
        const caller = yield* Principal
        return yield* problems(
          credentials.mint(caller, yield* Target.project, yield* Target.branch, access, ttl_seconds)
        )
      }),
      credentials: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pageOf(query)
        const { items, next_cursor } = yield* problems(credentials.list(yield* Principal, yield* Target.branch, page))
        return { credentials: items, pagination: { next_cursor } }
      }),
      revokeCredential: Effect.fnUntraced(function* () {
        const caller = yield* Principal
        return yield* problems(credentials.revoke(caller, yield* Target.project, yield* Target.credential))
      })
    })
  })
)
