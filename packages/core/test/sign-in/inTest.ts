/** Sessions under a test clock that starts at a fraction of a second, and the settings that tests override. */
import { Duration, Effect, type Layer, type Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccessPolicy, type AccessSettings } from "../../src/records/accounts/AccessPolicy.ts"
import { SessionPolicy, type SessionSettings } from "../../src/records/sessions/Session.ts"
import { TokenSigner } from "../../src/records/sessions/TokenSigner.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { People, sessionCallerOf } from "../memory/core.ts"

const defaults: SessionSettings = {
  jwt_lifetime: Duration.minutes(15),
  window: Duration.hours(12),
  reuse: "observe",
  id_token_replay: "allow"
}
export const under = (rest: Partial<SessionSettings>) => Effect.provideService(SessionPolicy, { ...defaults, ...rest })
const open: AccessSettings = { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false }
export const access = (rest: Partial<AccessSettings>) => Effect.provideService(AccessPolicy, { ...open, ...rest })
export const claimsOf = (token: Redacted.Redacted) => Effect.flatMap(TokenSigner, ({ verify }) => verify(token))

export const team = (token: Redacted.Redacted, name = "Team") =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    return yield* organizations.create(yield* sessionCallerOf(token), name)
  })

// The clock is set before the layers are built; otherwise their periodic work would run for 56 years of test time.
export const inTest = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof People>>) =>
  Effect.andThen(TestClock.setTime(Date.parse("2026-01-01T00:00:00.750Z")), Effect.provide(effect, People))
