/**
 * Steps 4 to 11 of the order of answers, as data: the endpoint's policy against the caller, a replay of the same
 * idempotency key, the look-up of what the path names. Handlers get the objects as `Target` and the
 * policy as `AppliedPolicy`, and decide nothing.
 *
 * In a group it is added before `Authentication`, because the middleware added last runs first.
 */
import { HttpApiMiddleware } from "effect/http-api"
import type { AppliedPolicy, Principal, Target } from "@narthex/core"
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
