/**
 * The database credentials with which statements run: minted by the API for the caller's key, one for each key, branch
 * and access, kept in memory and revoked when the server ends (docs/design/mcp.md).
 *
 * No result, refusal, line of the log or span ever has a credential.
 *
 * Pitfall: sharing one between keys. The end of a key ends the credentials that it minted, and no others.
 */
import { ClientCredential, ClientHeaders, type MintedCredential } from "@narthex/api"
import { Clock, Context, DateTime, Effect, Layer, Option, type Redacted, Semaphore } from "effect"
import type { ConnectionLost, SqlRefused } from "../sql/statement.ts"
import { type Target, targetOf } from "../sql/Target.ts"
import { Caller } from "./Caller.ts"
import { calling } from "./explain.ts"
import type { FoundBranch } from "./names.ts"
import { Refused } from "./Refused.ts"

export type Access = "read_write" | "read_only"

type Minted = typeof MintedCredential.Type

type Place = Pick<FoundBranch, "id" | "project_id">

/** Seconds. Longer than a conversation pauses, and soon over where the server could not revoke it. */
const lifetime = 900

/** Milliseconds that a credential must have left when a statement begins: as long as the longest call. */
const reserve = 120_000

interface Held {
  readonly target: Target
  /** Milliseconds since the epoch; infinite for a credential that does not expire. */
  readonly expires: number
  readonly revoke: Effect.Effect<void>
}

interface Slot {
  readonly lock: Semaphore.Semaphore
  held: Held | undefined
  /** How many calls use it or wait for it. */
  users: number
}

const lost = new Refused({
  rule: "credential_lost",
  reason: "A database credential was minted, and the answer with it was lost.",
  allowed: "the same call, once more."
})

const make = Effect.gen(function* () {
  const slots = new Map<string, Slot>()

  /** Runs `work`, alone, with the slot of the caller. A slot without a credential is not kept. */
  const inSlot = <A, E, R>({ id }: Place, access: Access, work: (slot: Slot) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      for (const [name, { held, users }] of slots)
        if (users === 0 && held !== undefined && held.expires < now) slots.delete(name)
      const name = `${(yield* Caller).id} ${id} ${access}`
      const slot = slots.get(name) ?? { lock: Semaphore.makeUnsafe(1), held: undefined, users: 0 }
      slots.set(name, slot)
      slot.users += 1
      const left = Effect.sync(() => {
        slot.users -= 1
        if (slot.users === 0 && slot.held === undefined) slots.delete(name)
      })
      return yield* Effect.ensuring(slot.lock.withPermit(work(slot)), left)
    })

  const heldOf = Effect.fnUntraced(function* ({ id, project_id }: Place, { connection_uri, credential }: Minted) {
    const target = connection_uri === null ? Option.none<Target>() : targetOf(connection_uri)
    if (Option.isNone(target)) return yield* lost
    const { client } = yield* Caller
    const params = { project_id, branch_id: id, role: credential.role }
    const revoke = client.api.branches
      .revokeCredential({ params })
      .pipe(
        Effect.provideService(ClientCredential, yield* ClientCredential),
        Effect.provideService(ClientHeaders, yield* ClientHeaders),
        Effect.timeoutOption("5 seconds"),
        Effect.ignore
      )
    const expires =
      credential.expires_at === null ? Number.POSITIVE_INFINITY : DateTime.toEpochMillis(credential.expires_at)
    return { target: target.value, expires, revoke } satisfies Held
  })

  const mintOnce = Effect.fnUntraced(function* (place: Place, access: Access) {
    const params = { project_id: place.project_id, branch_id: place.id }
    const asked = (payload: { readonly access: Access; readonly ttl_seconds?: number }) =>
      calling(({ api }) => api.branches.mint({ params, payload }))
    // A branch or a key that ends sooner refuses the lifetime; then the API chooses it.
    const minted = yield* Effect.catchIf(
      asked({ access, ttl_seconds: lifetime }),
      ({ rule }) => rule === "invalid_request",
      () => asked({ access })
    )
    return yield* heldOf(place, minted)
  })

  /** A second one where the answer with the first was lost: a repeated call has no secret. */
  const mint = (place: Place, access: Access) =>
    Effect.catchIf(
      mintOnce(place, access),
      ({ rule }) => rule === lost.rule,
      () => mintOnce(place, access)
    )

  /** The credential of a slot, minted if there is none that lasts. `gone`: one that the database does not know. */
  const credential = (place: Place, access: Access, gone?: Held) =>
    inSlot(place, access, (slot) =>
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (slot.held === gone) slot.held = undefined
        if (slot.held !== undefined && slot.held.expires - now > reserve) return slot.held
        const held = yield* mint(place, access)
        slot.held = held
        return held
      })
    )

  yield* Effect.addFinalizer(() =>
    Effect.forEach([...slots.values()], ({ held }) => held?.revoke ?? Effect.void, { concurrency: 8, discard: true })
  )

  return DatabaseCredentials.of({
    using: Effect.fnUntraced(function* (place, access, work) {
      const held = yield* credential(place, access)
      // The role may have ended since, by its key, its branch or a person: then another is minted, once.
      return yield* Effect.catchIf(work(held.target), isForgotten, () =>
        Effect.flatMap(credential(place, access, held), ({ target }) => work(target))
      )
    }),
    keep: (place, access, minted) =>
      inSlot(place, access, (slot) =>
        Effect.map(Effect.option(heldOf(place, minted)), (held) => {
          slot.held = Option.getOrUndefined(held)
        })
      ),
    uri: (place, access) =>
      Effect.gen(function* () {
        const params = { project_id: place.project_id, branch_id: place.id }
        const { connection_uri } = yield* calling(({ api }) => api.branches.mint({ params, payload: { access } }))
        return connection_uri ?? (yield* lost)
      })
  })
})

/** The proxy knows no such role, or its password is another. */
const isForgotten = (failure: SqlRefused | ConnectionLost | Refused): boolean =>
  failure._tag === "SqlRefused" && failure.opening && failure.sqlstate === "28P01"

export class DatabaseCredentials extends Context.Service<
  DatabaseCredentials,
  {
    /** Runs `work` with a credential of the branch. */
    readonly using: <A>(
      branch: Place,
      access: Access,
      work: (target: Target) => Effect.Effect<A, SqlRefused | ConnectionLost>
    ) => Effect.Effect<A, SqlRefused | ConnectionLost | Refused, Caller>
    /** Keeps a credential that came with a sandbox. */
    readonly keep: (branch: Place, access: Access, minted: Minted) => Effect.Effect<void, never, Caller>
    /** Mints a credential to be shown. It is not kept. */
    readonly uri: (branch: Place, access: Access) => Effect.Effect<Redacted.Redacted, Refused, Caller>
  }
>()("@narthex/mcp/access/DatabaseCredentials") {
  static readonly layer: Layer.Layer<DatabaseCredentials> = Layer.effect(DatabaseCredentials, make)
}
