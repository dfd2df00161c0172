/** Turns the errors of the core into the problems of the contract, one by one: an error without a row does not compile. */
import {
  AddressNotListedProblem,
  ConflictProblem,
  EmailNotAllowedProblem,
  InvalidCodeProblem,
  InvalidRequestProblem,
  InvalidTokenProblem,
  MalformedCidrProblem,
  MalformedRequestProblem,
  NotAMemberProblem,
  NotFoundProblem,
  problems as problemClasses,
  QuotaExceededProblem,
  RateLimitedProblem,
  RegionRequiredProblem,
  RegionUnknownProblem,
  ResourceBusyProblem,
  SignInRequiredProblem,
  TokenExpiredProblem,
  UnavailableProblem
} from "@narthex/api"
import type {
  AddressNotListed,
  Conflict,
  EmailNotAllowed,
  InvalidCode,
  InvalidCredential,
  InvalidIdToken,
  InvalidMember,
  IpRuleNotFound,
  MalformedCidr,
  MalformedCursor,
  NotAMember,
  NotApplied,
  NotFound,
  NotStarted,
  ProviderUnavailable,
  QuotaExceeded,
  Refused,
  RegionRequired,
  RegionUnknown,
  ResourceBusy,
  SignInRequired,
  StorageError,
  StreamsDraining,
  TokenExpired,
  TooManyStreams,
  TooManyWaits
} from "@narthex/core"
import { Effect, Predicate } from "effect"

const retrySoon = 1000

type TooMany = Pick<TooManyStreams | TooManyWaits, "allowed" | "held" | "message" | "retry_after_seconds">

/**
 * The 429 of the limit `name`. `held` and `allowed`: the calls that were counted and the most that may be, or the streams or
 * waits that are open, and the most that may be, per principal, organization or instance.
 */
export const tooMany = (name: string, { allowed, held, message, retry_after_seconds }: TooMany) =>
  new RateLimitedProblem({
    detail: message,
    retry_after_ms: retry_after_seconds * 1000,
    limit: name,
    held,
    allowed
  })

/** One row per error: the problem that answers it. `detail` is the error's own message. */
const answers = {
  AddressNotListed: (error: AddressNotListed) => new AddressNotListedProblem({ detail: error.message }),
  Conflict: (error: Conflict) => new ConflictProblem({ detail: error.reason }),
  EmailNotAllowed: (error: EmailNotAllowed) => new EmailNotAllowedProblem({ detail: error.message }),
  InvalidCode: (_: InvalidCode) => new InvalidCodeProblem({}),
  InvalidCredential: (_: InvalidCredential) => new InvalidTokenProblem({}),
  InvalidIdToken: (_: InvalidIdToken) => new InvalidTokenProblem({}),
  InvalidMember: ({ path, reason }: InvalidMember) =>
    new InvalidRequestProblem({ detail: `${path.join(".")}: ${reason}`, errors: [{ path, message: reason }] }),
  IpRuleNotFound: (_: IpRuleNotFound) => new NotFoundProblem({}),
  MalformedCidr: (error: MalformedCidr) =>
    new MalformedCidrProblem({ detail: error.message, errors: [{ path: ["cidr"], message: error.reason }] }),
  MalformedCursor: (error: MalformedCursor) => new MalformedRequestProblem({ detail: error.message }),
  NotAMember: (_: NotAMember) => new NotAMemberProblem({}),
  NotApplied: (error: NotApplied) => new UnavailableProblem({ detail: error.message, retry_after_ms: retrySoon }),
  NotFound: (_: NotFound) => new NotFoundProblem({}),
  NotStarted: (error: NotStarted) => new UnavailableProblem({ detail: error.message, retry_after_ms: retrySoon }),
  ProviderUnavailable: (error: ProviderUnavailable) =>
    new UnavailableProblem({ detail: error.message, retry_after_ms: 5000 }),
  QuotaExceeded: (error: QuotaExceeded) => {
    const { allowed, held, quota } = error
    return new QuotaExceededProblem({ detail: error.message, quota, held, allowed })
  },
  Refused: ({ code, held, required }: Refused) => new problemClasses[code]({ held, required }),
  RegionRequired: (error: RegionRequired) => new RegionRequiredProblem({ detail: error.message }),
  RegionUnknown: (error: RegionUnknown) => new RegionUnknownProblem({ detail: error.message }),
  ResourceBusy: (error: ResourceBusy) =>
    new ResourceBusyProblem({
      detail: error.message,
      blocking_operation_id: error.blocking_operation_id,
      retry_after_ms: retrySoon
    }),
  SignInRequired: (_: SignInRequired) => new SignInRequiredProblem({}),
  StorageError: (_: StorageError) => new UnavailableProblem({ retry_after_ms: retrySoon }),
  StreamsDraining: (error: StreamsDraining) =>
    new UnavailableProblem({ detail: error.message, retry_after_ms: error.retry_after_seconds * 1000 }),
  TokenExpired: (_: TokenExpired) => new TokenExpiredProblem({}),
  TooManyStreams: (error: TooManyStreams) => tooMany("streams", error),
  TooManyWaits: (error: TooManyWaits) => tooMany("waits", error)
}

type Answers = typeof answers
type Tag = keyof Answers
export type DomainError = { [T in Tag]: Parameters<Answers[T]>[0] }[Tag]
export type ProblemOf<E> = E extends { readonly _tag: infer T extends Tag } ? ReturnType<Answers[T]> : never

/** The problem that answers a domain error. */
export const toProblem = <E extends DomainError>(error: E): ProblemOf<E> => {
  // The table has a row for every tag, and `ProblemOf` reads the same table; TypeScript cannot join the two.
  const answer = answers[error._tag] as unknown as (error: E) => ProblemOf<E>
  return answer(error)
}

/** The problem of an unknown error; `undefined`: the error is not of the domain. */
export const problemOf = (error: unknown): ProblemOf<DomainError> | undefined =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string" && Object.hasOwn(answers, error._tag)
    ? toProblem(error as unknown as DomainError) // the table has a row for its tag
    : undefined

/** Maps every domain error of an effect to its problem, and logs the cause of storage errors. */
export const problems = <A, E extends DomainError, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, ProblemOf<E>, R> =>
  Effect.catch(effect, (error) => {
    const problem = Effect.fail(toProblem(error))
    return error._tag === "StorageError" ? Effect.andThen(Effect.logError(error.line), problem) : problem
  })
