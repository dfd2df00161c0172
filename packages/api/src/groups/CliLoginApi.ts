/** The login of the command line (docs/design/identity.md I36–I41): the console authorizes, the client exchanges. */
import { anonymous, Capability, CliState, CodeChallenge, isLoopbackRedirect, session } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  AlphaPendingProblem,
  ConflictProblem,
  InvalidCodeProblem,
  NotAMemberProblem,
  RateLimitedProblem,
  UnavailableProblem
} from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { AnySecret, AnyText, ExpiresInDays, KeyName, optionalNullable, Secret } from "../schemas/members.ts"
import { ScopeInput } from "../schemas/ScopeInput.ts"
import { created } from "../schemas/Shapes.ts"
import { createdKeyText } from "../schemas/texts.ts"
import { CreatedApiKey } from "./ApiKeysApi.ts"

/** Checked as raw text, before a URL parser normalizes it. */
const LoopbackRedirect = Schema.String.check(
  Schema.makeFilter((text) => isLoopbackRedirect(text) || "Expected http://127.0.0.1:PORT/… or http://[::1]:PORT/…")
)

export const AuthorizeCli = Schema.Struct({
  redirect_uri: LoopbackRedirect,
  state: CliState,
  code_challenge: CodeChallenge,
  code_challenge_method: optionalNullable(Schema.Literal("S256")),
  name: KeyName,
  capability: optionalNullable(Capability),
  scope: optionalNullable(ScopeInput),
  expires_in_days: optionalNullable(ExpiresInDays)
})
export type AuthorizeCli = typeof AuthorizeCli.Type

/** Every wrong or missing member is 401 `invalid_code`, so that the answer does not say which one it is. */
export const ExchangeCliCode = Schema.Struct({ code: AnySecret, code_verifier: AnySecret, redirect_uri: AnyText })

export class CliLoginApi extends HttpApiGroup.make("cli")
  .add(
    HttpApiEndpoint.post("authorize", "/v1/cli/authorizations", {
      payload: AuthorizeCli,
      success: created(Schema.Struct({ code: Secret, expires_at: Schema.DateTimeUtcFromString })),
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(session({ permission: "own_keys" }), {
        summary: "Authorize a command line to get an API key",
        act: "cli_login.authorized",
        text: "What the page `/cli/authorize` of the console calls when a person authorizes a command line.",
        answer: "The code, for the redirect to the command line.",
        strictBody: true,
        showsSecret: true,
        limitedBy: "key_creation",
        notReplayed: true
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .add(
    HttpApiEndpoint.post("exchange", "/v1/cli/exchange", {
      payload: ExchangeCliCode,
      success: created(CreatedApiKey),
      error: [
        InvalidCodeProblem,
        AlphaPendingProblem,
        NotAMemberProblem,
        ConflictProblem,
        RateLimitedProblem,
        UnavailableProblem
      ]
    }).annotateMerge(
      endpointRules(anonymous, {
        summary: "Exchange the code of the loopback redirect for an API key",
        text: "The last step of `narthex login`. Every wrong member gets the same refusal.",
        answer: createdKeyText,
        showsSecret: true,
        limitedBy: "cli_exchange",
        notReplayed: true
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "CLI login", description: "The loopback login of the command line." })) {}
