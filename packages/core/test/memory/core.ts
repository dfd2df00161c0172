/**
 * The core over memory ports for service tests: users who sign in, and a compute driver that a test controls.
 * Operations run when a test calls `settle` or `OperationRunner.runOne`.
 */
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import { layerServices } from "../../src/CoreServices.ts"
import { type BranchId, RegionId } from "../../src/Ids.ts"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import {
  ComputeDriver,
  ComputeFailed,
  type ComputeRole,
  type ComputeStart
} from "../../src/records/computes/ComputeDriver.ts"
import { layerMemoryComputes } from "../../src/records/computes/MemoryComputes.ts"
import type { LoggedEvent } from "../../src/records/events/Envelope.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import type { Capability } from "../../src/records/keys/ApiKey.ts"
import { KeyDigester } from "../../src/records/keys/KeyDigester.ts"
import { KeyUses } from "../../src/records/keys/KeyUses.ts"
import { RegionCatalog } from "../../src/records/regions/RegionCatalog.ts"
import { TokenSigner } from "../../src/records/sessions/TokenSigner.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import type { AnyCaller, SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { Authentication } from "../../src/services/access/Authentication.ts"
import { CliLogin } from "../../src/services/cli-login/CliLogin.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { OwnInvitations } from "../../src/services/organizations/OwnInvitations.ts"
import { Quotas } from "../../src/services/quotas/Quotas.ts"
import { IdentityProvider, InvalidIdToken, type VerifiedIdentity } from "../../src/services/sign-in/IdentityProvider.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { SignIn } from "../../src/services/sign-in/SignIn.ts"
import { Transaction } from "../../src/Transaction.ts"

/** The policy of changes to an endpoint. */
export const onEndpoint = changes("sandbox", "change_projects", "endpoint", { agent: "made_by_agent" })

/** The id tokens that the test provider verifies, by their text. */
export class IdTokens extends Context.Service<IdTokens, Map<string, VerifiedIdentity>>()("test/IdTokens") {}

const Provider = Layer.effect(
  IdentityProvider,
  Effect.map(IdTokens, (tokens) => ({
    providers: [],
    verify: ({ id_token }) =>
      Effect.mapError(
        Effect.fromNullishOr(tokens.get(Redacted.value(id_token))),
        () => new InvalidIdToken({ cause: "unknown token" })
      )
  }))
).pipe(Layer.provideMerge(Layer.sync(IdTokens, () => new Map())))

const pepper = { id: "p1", key: Redacted.make(new Uint8Array(32).fill(7)) }

const Ports = Layer.mergeAll(layerMemoryPorts, Provider, KeyDigester.layer(pepper), TokenSigner.layerMemory)

/** Accounts, sessions, keys and authentication. */
export const People = Layer.mergeAll(
  Invitations.layer,
  OperatorAccounts.layer,
  Organizations.layer,
  OwnInvitations.layer,
  Sessions.layer,
  Authentication.layer,
  CliLogin.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(SignIn.layer, ApiKeys.layer)),
  Layer.provideMerge(Layer.merge(KeyUses.layer, Quotas.layer)),
  Layer.provideMerge(Ports)
)

/** The calls that the compute driver received, and the hooks with which a test controls them. */
export interface Machinery {
  /** `start ep-… 1`, in the order of the calls. */
  readonly calls: Array<string>
  readonly starts: Array<ComputeStart>
  /** The roles that the latest call applied to a branch. */
  readonly roles: Map<string, ReadonlyArray<string>>
  /** How many of these write. */
  readonly writers: Map<string, number>
  /** Whether the driver cannot tell what runs. */
  silent: boolean
  /** Runs before a call has an effect; it may fail the call or never complete. */
  before: (call: string) => Effect.Effect<void, ComputeFailed>
  /** Runs after a call has taken effect. */
  after: (call: string) => Effect.Effect<void, ComputeFailed>
}

export class Machines extends Context.Service<Machines, Machinery>()("test/Machines") {}

const Driver = Layer.effect(
  ComputeDriver,
  Effect.gen(function* () {
    const machines = yield* Machines
    const driver = yield* ComputeDriver
    const noted = <A>(call: string, work: Effect.Effect<A, ComputeFailed>) =>
      Effect.suspend(() => {
        machines.calls.push(call)
        return machines.before(call).pipe(
          Effect.andThen(work),
          Effect.tap(() => machines.after(call))
        )
      })
    const note = (branch: BranchId, roles: ReadonlyArray<ComputeRole>) => {
      const names = roles.map(({ role }) => role)
      machines.roles.set(branch, names)
      machines.writers.set(branch, roles.filter(({ access }) => access === "read_write").length)
    }
    return ComputeDriver.of({
      createBranch: (branch, parent) =>
        noted(
          `createBranch ${branch} of ${Option.getOrElse(parent, () => "nothing")}`,
          driver.createBranch(branch, parent)
        ),
      resetBranch: (branch, parent) => noted(`resetBranch ${branch}`, driver.resetBranch(branch, parent)),
      deleteBranch: (branch) => noted(`deleteBranch ${branch}`, driver.deleteBranch(branch)),
      start: (wanted) => {
        machines.starts.push(wanted)
        note(wanted.branch_id, wanted.roles)
        return noted(`start ${wanted.endpoint_id} ${wanted.generation}`, driver.start(wanted))
      },
      stop: (endpoint) => noted(`stop ${endpoint}`, driver.stop(endpoint)),
      applyRoles: (branch, roles) => {
        note(branch, roles)
        return noted(`applyRoles ${branch}`, driver.applyRoles(branch, roles))
      },
      // Not among the calls: a loop asks every minute.
      needsRoles: (branch, roles) =>
        Effect.andThen(
          Effect.suspend(() => machines.before(`needsRoles ${branch}`)),
          driver.needsRoles(branch, roles)
        ),
      running: Effect.suspend(() =>
        machines.silent
          ? Effect.fail(new ComputeFailed({ reason: "The machine does not answer.", retryable: true }))
          : driver.running
      ),
      diskUsage: driver.diskUsage
    })
  })
).pipe(
  Layer.provideMerge(
    Layer.sync(Machines, () => ({
      calls: [],
      starts: [],
      roles: new Map(),
      writers: new Map(),
      silent: false,
      before: () => Effect.void,
      after: () => Effect.void
    }))
  ),
  Layer.provide(layerMemoryComputes)
)

export const region = RegionId.make("eu-1")

const Rest = Layer.merge(
  OperationRunner.layerManual,
  Layer.effectDiscard(Effect.flatMap(RegionCatalog, ({ seed }) => seed([region])))
).pipe(Layer.provideMerge(layerServices))

/** The whole core over memory ports, with one region. */
export const Core = Rest.pipe(Layer.provideMerge(Driver), Layer.provideMerge(Ports))

/** The points at which a worker may crash: `cross` runs before and after every transaction. */
export class Boundary extends Context.Service<Boundary, { cross: Effect.Effect<void> }>()("test/Boundary") {}

const Mortal = Layer.effect(
  Transaction,
  Effect.gen(function* () {
    const boundary = yield* Boundary
    const { run, ...rest } = yield* Transaction
    const cross = Effect.suspend(() => boundary.cross)
    return Transaction.of({ ...rest, run: (work) => cross.pipe(Effect.andThen(run(work)), Effect.tap(cross)) })
  })
).pipe(Layer.provideMerge(Layer.sync(Boundary, () => ({ cross: Effect.void }))))

/** `Core` whose workers may crash at every boundary. */
export const MortalCore = Rest.pipe(Layer.provideMerge(Driver), Layer.provideMerge(Layer.provideMerge(Mortal, Ports)))

/** Another worker on the same storage and machines, as on another instance. */
export const anotherRunner = Effect.map(
  Layer.build(Layer.fresh(OperationRunner.layerManual)),
  (context) => Context.get(context, OperationRunner).runOne
)

export interface Person {
  /** Names the person; a second sign-in with it is the same person. */
  readonly subject: string
  readonly email?: string | null
  readonly verified?: boolean
  readonly name?: string | null
  /** Tells one id token of a person from another. */
  readonly token?: string
}

let tokens = 0

/** A fresh id token of a person. */
export const idTokenOf = (person: Person) =>
  Effect.gen(function* () {
    const text = person.token ?? `id token ${++tokens}`
    const expires_at = DateTime.addDuration(yield* DateTime.now, "1 hour")
    const known = yield* IdTokens
    known.set(text, {
      provider: "test",
      issuer: "https://issuer.test",
      subject: person.subject,
      email: person.email === undefined ? `${person.subject}@example.com` : person.email,
      email_verified: person.verified ?? true,
      name: person.name ?? null,
      token_digest: `digest of ${text}`,
      expires_at
    })
    return { id_token: Redacted.make(text), provider: null, nonce: null }
  })

export const device = { user_agent: "Test/1", address: "203.0.113.9" }

export const signIn = (person: Person | string) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    return yield* sessions.exchange(yield* idTokenOf(typeof person === "string" ? { subject: person } : person), device)
  })

/** Authenticates this token. */
export const callerOf = (token: Redacted.Redacted) =>
  Effect.flatMap(Authentication, (it) => it.authenticate(token, null))

/** Authenticates the access token of a session. */
export const sessionCallerOf = Effect.fnUntraced(function* (token: Redacted.Redacted) {
  const caller = yield* callerOf(token)
  return caller.kind === "session" ? caller : yield* Effect.die(new Error("A key is no session."))
})

export const signedIn = (person: Person | string) =>
  Effect.flatMap(signIn(person), ({ access_token }) => sessionCallerOf(access_token))

/** Accepts every pending invitation of the caller. */
export const acceptAll = (caller: AnyCaller) =>
  Effect.gen(function* () {
    const own = yield* OwnInvitations
    const { items } = yield* own.list(caller, { limit: 1000, after: null })
    return yield* Effect.forEach(items, ({ id }) => own.accept(caller, id))
  })

/** Creates a key for this user and authenticates its secret. */
export const keyCallerOf = (
  creator: SessionCaller,
  capability: Capability,
  wanted: Parameters<ApiKeys["Service"]["resolveScope"]>[1] = { type: "organization" }
) =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const scope = yield* keys.resolveScope(creator.org_id, wanted)
    const { secret } = yield* keys.create(creator, { name: capability, capability, scope, expires_in_days: null })
    const caller = yield* callerOf(secret)
    return caller.kind === "api_key" ? caller : yield* Effect.die(new Error("A session is not a key."))
  })

/** Runs every operation that is due; returns the number of turns. */
export const settle = Effect.gen(function* () {
  const { runOne } = yield* OperationRunner
  let turns = 0
  while (yield* runOne) turns++
  return turns
})

/** Everything in the log, internal events included. */
export const logged: Effect.Effect<ReadonlyArray<LoggedEvent>, unknown, EventLog> = Effect.gen(function* () {
  const log = yield* EventLog
  while ((yield* log.sequence) === "more");
  return yield* log.tail(0, 100_000)
})

/** One turn of the event loop. */
export const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Milliseconds of real time after which a wait fails. */
const patience = 45_000

/** Waits in real time until other fibers or the platform's cryptography make the condition true. */
export const until = <E, R>(what: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.gen(function* () {
    const deadline = performance.now() + patience
    while (!(yield* what)) {
      if (performance.now() > deadline)
        return yield* Effect.die(new Error(`Waited ${patience / 1_000} s for the condition of the test.`))
      yield* turn
    }
  })

/** The tag of the error with which the effect fails. */
export const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
