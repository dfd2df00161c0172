/**
 * The clients that the allowlist of a project refused: recorded from the reports of proxies, and listed for the people
 * of the project. The proxies decide; this module stores what they report.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { Hex } from "effect/encoding"
import { Entropy } from "../../Entropy.ts"
import type { ProjectId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { type ClientRefusal, datedRefusals, type RefusalReport } from "../../records/allowlist/ClientRefusal.ts"
import { ClientRefusalStore } from "../../records/allowlist/ClientRefusalStore.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import { visibleRoles } from "../../rules/authorization/visibleRoles.ts"
import type { StorageError } from "../../StorageError.ts"

export class ClientRefusals extends Context.Service<
  ClientRefusals,
  {
    /** Records a report. The instants are those of this process, because proxies send ages. A repeated one counts once. */
    readonly note: (report: RefusalReport) => Effect.Effect<void, StorageError>

    /** The last refusals of a project, newest first. Roles are those that the caller may see (Z41). */
    readonly list: (
      caller: AnyCaller,
      project: ProjectId,
      page: PageRequest
    ) => Effect.Effect<Page<ClientRefusal>, StorageError>
  }
>()("@narthex/core/services/allowlist/ClientRefusals") {
  static readonly layer: Layer.Layer<ClientRefusals, never, ClientRefusalStore> = Layer.effect(
    ClientRefusals,
    Effect.gen(function* () {
      const store = yield* ClientRefusalStore
      return ClientRefusals.of({
        note: Effect.fn("ClientRefusals.note")(function* ({ proxy_id, refusals, sequence }) {
          if (refusals.length === 0) return
          const now = yield* DateTime.now
          const unique = Hex.encode(yield* (yield* Entropy).bytes(8))
          yield* store.note({ proxy_id, sequence, refusals: datedRefusals(refusals, now, unique) }, now)
        }),
        list: Effect.fn("ClientRefusals.list")((caller, project, page) =>
          store.list(project, visibleRoles(caller), page)
        )
      })
    })
  )
}
