/**
 * A sandbox: a child branch with an endpoint and a read-write credential in one call, gone after its time. It is what
 * an agent key drives.
 */
import { Context, Effect, Layer } from "effect"
import type { AnyCaller } from "../authorization/Principal.ts"
import type { Conflict, InvalidMember, NotFound, Refused } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Branches, type BranchWork } from "./Branches.ts"
import { Credentials, type MintedCredential } from "./Credentials.ts"
import type { Endpoint } from "../projects/Endpoint.ts"
import type { Project } from "../projects/Project.ts"

export const defaultSandboxSeconds = 3600
export const maxSandboxSeconds = 86_400

export interface NewSandbox {
  readonly name: string | null
  readonly parent_id: string | null
  readonly ttl_seconds: number | null
}

export interface CreatedSandbox extends BranchWork, MintedCredential {
  readonly endpoint: Endpoint
}

export class Sandboxes extends Context.Service<
  Sandboxes,
  {
    readonly create: (
      caller: AnyCaller,
      project: Project,
      wanted: NewSandbox
    ) => Effect.Effect<CreatedSandbox, Conflict | InvalidMember | NotFound | Refused | StorageError>
  }
>()("@narthex/core/provisioning/Sandboxes") {
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
          if (made.endpoint === null) return yield* Effect.die(new Error("A sandbox was made without its endpoint."))
          const minted = yield* credentials.mintOnNew(caller, project, made.branch, "read_write", ttl_seconds)
          return { ...made, endpoint: made.endpoint, ...minted }
        })
      })
    })
  )
}
