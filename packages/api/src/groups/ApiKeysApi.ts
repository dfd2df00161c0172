/** The endpoints of API keys. The path of the collection has two forms, with and without the trailing slash. */
import { ApiKeyId, anonymous, Capability, type CredentialPolicy, reads, self, session } from "@narthex/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ConflictProblem, RateLimitedProblem, UnavailableProblem } from "../problems/Problems.ts"
import { Authentication } from "../rules/Authentication.ts"
import { endpointRules } from "../rules/endpointRules.ts"
import { PolicyCheck } from "../rules/PolicyCheck.ts"
import { AnySecret, ExpiresInDays, GraceSeconds, KeyName, optionalBody, optionalNullable } from "../schemas/members.ts"
import { Pagination, pageQuery } from "../schemas/Paging.ts"
import { ScopeInput } from "../schemas/ScopeInput.ts"
import { ApiKeyRecord, created, ShownSecret } from "../schemas/Shapes.ts"
import { createdKeyText } from "../schemas/texts.ts"

export const CreateApiKey = Schema.Struct({
  name: KeyName,
  capability: optionalNullable(Capability),
  scope: optionalNullable(ScopeInput),
  expires_in_days: optionalNullable(ExpiresInDays)
})
export type CreateApiKey = typeof CreateApiKey.Type

export const RotateApiKey = Schema.Struct({ grace_seconds: optionalNullable(GraceSeconds) })

/** The only answer that holds a key's secret. */
export const CreatedApiKey = Schema.Struct({ api_key: ApiKeyRecord, secret: ShownSecret })
const createdKey = created(CreatedApiKey)

export const ApiKeyList = Schema.Struct({ api_keys: Schema.Array(ApiKeyRecord), pagination: Pagination })

const params = { api_key_id: ApiKeyId }
const creates = session({ permission: "own_keys" })
const lists = reads("none", "branch")
/** A key of a pending account may revoke itself. Which other keys a session may revoke is decided at the look-up. */
const revokes: CredentialPolicy = { ...self, target: "api_key", ex_member: false }

const list = { query: pageQuery, success: ApiKeyList } as const
const create = { payload: CreateApiKey, success: createdKey, error: ConflictProblem } as const
const createRules = {
  strictBody: true,
  showsSecret: true,
  locatedAt: "/v1/api-keys/{api_key.id}",
  limitedBy: "key_creation"
} as const

export class ApiKeysApi extends HttpApiGroup.make("apiKeys")
  .add(
    HttpApiEndpoint.get("list", "/v1/api-keys/", list).annotateMerge(
      endpointRules(lists, {
        summary: "List API keys",
        text: "Administrators see all API keys of the organization, other members their own, a narrower key itself. Revoked keys are left out; expired ones stay for 30 days.",
        answer: "A page of API keys."
      })
    ),
    HttpApiEndpoint.get("listBare", "/v1/api-keys", list).annotateMerge(
      endpointRules(lists, {
        summary: "List API keys",
        text: "The same as with the slash at the end.",
        answer: "A page of API keys."
      })
    ),
    HttpApiEndpoint.post("create", "/v1/api-keys/", create).annotateMerge(
      endpointRules(creates, {
        summary: "Create an API key; its secret is shown once",
        act: "api_key.created",
        text: "The key acts as the person who creates it, within its capability and scope, until it expires or is revoked.",
        answer: createdKeyText,
        ...createRules
      })
    ),
    HttpApiEndpoint.post("createBare", "/v1/api-keys", create).annotateMerge(
      endpointRules(creates, {
        summary: "Create an API key; its secret is shown once",
        act: "api_key.created",
        text: "The same as with the slash at the end.",
        answer: createdKeyText,
        ...createRules
      })
    ),
    HttpApiEndpoint.delete("revokeSelf", "/v1/api-keys/self", { success: HttpApiSchema.NoContent }).annotateMerge(
      endpointRules(revokes, {
        summary: "Revoke the key that calls",
        act: "api_key.revoked",
        text: "A key of any capability may revoke itself.",
        answer: "The key is revoked.",
        targetSelf: true
      })
    ),
    HttpApiEndpoint.get("get", "/v1/api-keys/:api_key_id", {
      params,
      success: Schema.Struct({ api_key: ApiKeyRecord })
    }).annotateMerge(
      endpointRules(reads("api_key", "branch"), {
        summary: "Read an API key",
        text: "An API key that the list shows.",
        answer: "The API key."
      })
    ),
    HttpApiEndpoint.post("rotate", "/v1/api-keys/:api_key_id/rotate", {
      params,
      payload: optionalBody(RotateApiKey, {}),
      success: createdKey,
      error: ConflictProblem
    }).annotateMerge(
      endpointRules(session({ permission: "own_keys", target: "api_key" }), {
        summary: "Give the key a new secret; the old one expires after grace_seconds",
        act: "api_key.rotated",
        text: "Only the key's creator may do it. The key keeps its id, name and rights; its open event streams end.",
        answer: "The API key and its new secret, which is shown this once.",
        showsSecret: true,
        locatedAt: "/v1/api-keys/{api_key.id}",
        limitedBy: "key_creation"
      })
    ),
    HttpApiEndpoint.delete("revoke", "/v1/api-keys/:api_key_id", {
      params,
      success: HttpApiSchema.NoContent
    }).annotateMerge(
      endpointRules(revokes, {
        summary: "Revoke an API key",
        act: "api_key.revoked",
        text: "The key is refused from now on, on every instance, and its event streams end.",
        answer: "The key is revoked."
      })
    )
  )
  .middleware(PolicyCheck)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "API keys", description: "Keys act with their creator's identity." })) {}

/** Where scanners report leaked secrets. It always answers 202, which reveals nothing about the secret. */
export class CredentialsApi extends HttpApiGroup.make("credentials")
  .add(
    HttpApiEndpoint.post("report", "/v1/credentials/report", {
      payload: Schema.Struct({ secret: AnySecret }),
      success: HttpApiSchema.Accepted,
      error: [RateLimitedProblem, UnavailableProblem]
    }).annotateMerge(
      endpointRules(anonymous, {
        summary: "Report a leaked key, which revokes it",
        text: "For scanners of leaked secrets. The answer is the same whether the secret is a key or not.",
        answer: "The report is taken. If it was a key, the key is revoked.",
        limitedBy: "reports"
      })
    )
  )
  .annotateMerge(OpenApi.annotations({ title: "Credentials", description: "Reports of leaked secrets." })) {}
