/** Questions of a host about projects: whether an address may reach one, and how an operation ended. */
import { clientFailure, OperationRecord } from "@narthex/api"
import {
  IpAllowlist as Allowlist,
  isAddress,
  isFinal,
  NotFound,
  OperationId,
  OperationWaits,
  orNotFound,
  ProjectId,
  ProjectStore,
  requestedId
} from "@narthex/core"
import { Duration, Effect, Option, Schema } from "effect"
import { milliseconds, objectOf, optional, signal as signalForm, text } from "../failures/forms.ts"
import { placing } from "../failures/placing.ts"
import { idIn, requireForm } from "./inputs.ts"
import type { Run } from "./Run.ts"

/**
 * The rules of projects, for what the host serves itself.
 *
 * @example
 * import { createControlPlane } from "narthex"
 * await using cp = await createControlPlane()
 * const client = cp.client(await cp.sessions.start(await cp.people.ensure({ subject: "user_42" })))
 * const { project } = await client.projects.create({ name: "shop" })
 * await client.ipAllow.add({ project_id: project.id, cidr: "203.0.113.0/24" })
 * console.log(await cp.ipAllowlist.permits(project.id, "203.0.113.7"))
 */
export interface IpAllowlist {
  /**
   * Whether the project's rules admit this address; a project without rules in force admits every one. Text that is no
   * address is not admitted. Rejects with `not_found` for a project that does not exist.
   */
  readonly permits: (project_id: string, address: string) => Promise<boolean>
}

export interface Operations {
  /**
   * Resolves once the operation has reached a final status: `finished`, `failed`, `error`, `cancelled` or `skipped`.
   * Rejects with `timed_out` after `timeout` milliseconds (default: 5 minutes), and with `not_found`.
   */
  readonly waitFor: (
    operation: string | { readonly id: string },
    options?: WaitOptions
  ) => Promise<typeof OperationRecord.Encoded>
}

export interface WaitOptions {
  /** Milliseconds. */
  readonly timeout?: number
  readonly signal?: AbortSignal
}

const waitForm = objectOf<WaitOptions>({ timeout: optional(milliseconds), signal: optional(signalForm) })

const encodeOperation = Schema.encodeEffect(OperationRecord)

export const makeIpAllowlist = (run: Run): IpAllowlist => ({
  permits: placing("ipAllowlist.permits", async (project_id, address) => {
    requireForm("project_id", project_id, text)
    requireForm("address", address, text)
    return run(
      Effect.gen(function* () {
        const { id } = yield* orNotFound((yield* ProjectStore).findAnywhere(requestedId(ProjectId, project_id)))
        return isAddress(address) && (yield* (yield* Allowlist).check(id, address)).allowed
      })
    )
  })
})

export const makeOperations = (run: Run): Operations => ({
  waitFor: placing("operations.waitFor", async (operation, options = {}) => {
    const id = requestedId(OperationId, idIn("operation", operation))
    requireForm("options", options, waitForm)
    const { signal, timeout = 300_000 } = options
    const waited = Effect.gen(function* () {
      const found = yield* (yield* OperationWaits).settled(id, Duration.millis(timeout))
      if (Option.isNone(found)) return yield* new NotFound({})
      const { status, view } = found.value
      if (isFinal(status)) return yield* encodeOperation(view)
      const about = `The operation ${id} is still ${status}.`
      return yield* Effect.fail(clientFailure("timed_out", { about }))
    })
    return run(waited, signal)
  })
})
