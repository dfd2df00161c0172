/**
 * Creates a sandbox: a child branch with an endpoint and a read-write credential in one call, for agents.
 *
 * A sandbox is no record of its own. The branch expires after `ttl_seconds`, is ended by `Reconciler` like any other,
 * and is read, reset and deleted through `Branches`. Callers authorize first.
 */
import { Context, Effect, Layer } from "effect"
import type { Conflict, InvalidCredential, InvalidMember, NotFound, Refused } from "../../Refusals.ts"
import type { Endpoint } from "../../records/projects/Endpoint.ts"
import type { Project } from "../../records/projects/Project.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Branches, type BranchWork } from "./Branches.ts"
import { Credentials, type MintedCredential } from "./Credentials.ts"

/** Lifetime of a sandbox in seconds when the request names none: an hour. */
export const defaultSandboxSeconds = 3600
/** The longest lifetime of a sandbox in seconds: a day. */
export const maxSandboxSeconds = 86_400

export interface NewSandbox {
  /** `null`: a name is generated. */
  readonly name: string | null
  /** `null`: the default branch. */
  readonly parent_id: string | null
  /** `null`: `defaultSandboxSeconds`. */
  readonly ttl_seconds: number | null
}

export interface CreatedSandbox extends BranchWork, MintedCredential {
  readonly endpoint: Endpoint
}

export class Sandboxes extends Context.Service<
  Sandboxes,
  {
    /** Schedules the branch, and mints a credential that its first start applies. Both expire together. */
    readonly create: (
      caller: AnyCaller,
      project: Project,
      wanted: NewSandbox
    ) => Effect.Effect<
      CreatedSandbox,
      Conflict | InvalidCredential | InvalidMember | NotFound | QuotaExceeded | Refused | StorageError
    >
  }
>()("@narthex/core/services/projects/Sandboxes") {
  static readonly layer: Layer.Layer<Sandboxes, never, Branches | Credentials> = Layer.effect(
    Sandboxes,
    Effect.gen(function* () {
      const branches = yield* Branches
      const credentials = yield* Credentials
      return Sandboxes.of({
        create: Effect.fn("Sandboxes.create")(function* (caller, project, wanted) {
          const ttl_seconds = wanted.ttl_seconds ?? defaultSandboxSeconds
          const made = yield* branches.create(caller, project, {
            ...wanted,
            ttl_seconds,
            protected: false,
            endpoint: true
          })
          if (made.endpoint === null) return yield* Effect.die(new Error("A sandbox was created without its endpoint."))
          const minted = yield* credentials.mintOnNew(caller, project, made.branch, "read_write")
          return { ...made, endpoint: made.endpoint, ...minted }
        })
      })
    })
  )
}
