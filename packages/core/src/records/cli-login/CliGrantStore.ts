/** Port: the codes of command-line logins. Consuming a code is atomic: of two concurrent exchanges, one wins. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import { CliGrant } from "./CliGrant.ts"

export class CliGrantStore extends Context.Service<
  CliGrantStore,
  {
    /** `false` when a grant with this state was made before. */
    readonly insert: (grant: CliGrant) => Effect.Effect<boolean, StorageError>
    readonly find: (codeDigest: string) => Effect.Effect<Option.Option<CliGrant>, StorageError>
    /** Marks an open grant as used and returns it; `None` when it is not open at `now`. One caller wins. */
    readonly consume: (codeDigest: string, now: DateTime.Utc) => Effect.Effect<Option.Option<CliGrant>, StorageError>
    readonly noteWrongVerifier: (codeDigest: string) => Effect.Effect<void, StorageError>
    /** Purges grants that expired before an instant; their states may be used again. */
    readonly purge: (before: DateTime.Utc) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/cli-login/CliGrantStore") {
  static readonly layerMemory: Layer.Layer<CliGrantStore, never, MemoryStorage> = Layer.effect(
    CliGrantStore,
    Effect.gen(function* () {
      const grants = (yield* MemoryStorage).table<CliGrant>("cli_grant")
      return CliGrantStore.of({
        insert: (grant) =>
          grants.modify((rows) => {
            const used = rows.some((row) => row.state_digest === grant.state_digest)
            return [!used, used ? [] : [[grant.code_digest, grant]]]
          }),
        find: grants.get,
        consume: (digest, now) =>
          grants.modify((rows) => {
            const open = rows.find((row) => row.code_digest === digest && row.openAt(now))
            if (open === undefined) return [Option.none(), []]
            const used = new CliGrant({ ...open, consumed_at: now })
            return [Option.some(used), [[digest, used]]]
          }),
        noteWrongVerifier: (digest) =>
          grants.modify((rows) => [
            undefined,
            rows
              .filter((row) => row.code_digest === digest)
              .map((row) => [digest, new CliGrant({ ...row, wrong_verifiers: row.wrong_verifiers + 1 })])
          ]),
        purge: (before) =>
          grants.modify((rows) => [
            undefined,
            rows.filter((row) => DateTime.isLessThan(row.expires_at, before)).map((row) => [row.code_digest, undefined])
          ])
      })
    })
  )
}
