/**
 * Steps 4 to 11 of docs/design/authorization.md Z6, as a middleware declaration: compare the endpoint's policy with the
 * caller, replay the answer of a known idempotency key, look up what the path names. Handlers get the objects as `Target` and the
 * policy as `AppliedPolicy`, and decide nothing.
 *
 * A group adds it before `Authentication`, because the middleware that is added last runs first.
 */
import type { AppliedPolicy, Principal, Target } from "@narthex/core"
import { HttpApiMiddleware } from "effect/http-api"
import {
  AlphaPendingProblem,
  CapabilityInsufficientProblem,
  IdempotencyConflictProblem,
  IdempotencyInProgressProblem,
  KeySelfOnlyProblem,
  NotAMemberProblem,
  NotFoundProblem,
  RoleInsufficientProblem,
  ScopeInsufficientProblem,
  SessionRequiredProblem,
  UnavailableProblem
} from "../problems/Problems.ts"

export class PolicyCheck extends HttpApiMiddleware.Service<
  PolicyCheck,
  { requires: Principal; provides: Target | AppliedPolicy }
>()("@narthex/api/PolicyCheck", {
  error: [
    AlphaPendingProblem,
    NotAMemberProblem,
    SessionRequiredProblem,
    KeySelfOnlyProblem,
    ScopeInsufficientProblem,
    CapabilityInsufficientProblem,
    RoleInsufficientProblem,
    NotFoundProblem,
    IdempotencyConflictProblem,
    IdempotencyInProgressProblem,
    UnavailableProblem
  ]
}) {}
