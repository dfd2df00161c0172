/** The types of the promise client and the contract: no call is missing, inputs and outputs are those of the wire. */
import { assert, describe, it } from "@effect/vitest"
import {
  Api,
  type Client,
  type ClientEvent,
  createClient,
  type Envelope,
  type InputOf,
  type NarthexError,
  type OperationAnswer,
  type OperationRecord,
  type OutputOf,
  type SessionAnswer,
  type SessionJson
} from "@narthex/api"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { expectTypeOf } from "vitest"
import { endpointsOf } from "../endpointsOf.ts"

type Groups = typeof Api extends HttpApi.HttpApi<infer _Id, infer G> ? G : never
type Endpoints = HttpApiGroup.Endpoints<Groups>

/** `group.endpoint` of the contract, and of a client. */
type Contract = {
  [G in Groups as HttpApiGroup.Identifier<G>]: `${HttpApiGroup.Identifier<G>}.${keyof G["endpoints"] & string}`
}[HttpApiGroup.Identifier<Groups>]
type Offered = { [G in keyof Client]: `${G}.${keyof Client[G] & string}` }[keyof Client]

type Input<M> = M extends (...args: infer A) => unknown ? A[0] : never
type Output<M> = M extends (...args: infer _A) => Promise<infer O> ? O : never
/** Calls whose input or output could not be derived. */
type Underived = {
  [G in keyof Client]: {
    [M in keyof Client[G]]: [Input<Client[G][M]>] extends [never] ? `${G}.${M & string}` : never
  }[keyof Client[G]]
}[keyof Client]

/** The values that calls resolve to, derived from their schemas. */
type Derived = {
  [G in Groups as HttpApiGroup.Identifier<G>]: {
    [M in keyof G["endpoints"]]: G["endpoints"][M] extends Endpoints ? OutputOf<G["endpoints"][M]> : never
  }
}
/** Calls whose generated types differ. */
type Different = {
  [G in keyof Client]: {
    [M in keyof Derived[G]]: Same<Output<Client[G][M & keyof Client[G]]>, Derived[G][M]> extends true
      ? never
      : `${G}.${M & string}`
  }[keyof Derived[G]]
}[keyof Client]
type Same<A, B> = [A, B] extends [B, A] ? true : false

type Create = Extract<Endpoints, { readonly path: "/v1/projects"; readonly method: "POST" }>

describe("the types of the promise client", () => {
  it("the promise client has every endpoint of the contract, subscribe and waitFor, and no more", () => {
    expectTypeOf<Exclude<Contract, Offered>>().toEqualTypeOf<never>()
    expectTypeOf<Exclude<Offered, Contract>>().toEqualTypeOf<"events.subscribe" | "operations.waitFor">()
    expectTypeOf<Underived>().toEqualTypeOf<never>()
    const client = createClient({ baseUrl: "http://narthex.invalid" })
    const offered = Object.entries(client).flatMap(([group, members]) =>
      Object.entries(members).map(([name, call]) => [`${group}.${name}`, typeof call])
    )
    const declared = endpointsOf(Api).map(({ endpoint, group }) => [`${group}.${endpoint.identifier}`, "function"])
    const extra = ["events.subscribe", "operations.waitFor"].map((name) => [name, "function"])
    assert.deepStrictEqual(offered.sort(), [...declared, ...extra].sort())
  })

  it("no endpoint has a name in two places of its request", () => {
    const fields = (schema: unknown) => Object.keys((schema as { fields?: object } | undefined)?.fields ?? {})
    const found = new Set<string>()
    const twice = endpointsOf(Api).flatMap(({ endpoint, group }) => {
      const inner = (schema: unknown) => (schema as { schema?: unknown } | undefined)?.schema ?? schema
      const bodies = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
      const names = [
        ...[...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? ""),
        ...fields(inner(endpoint.query)),
        ...fields(inner(endpoint.headers)),
        ...new Set(bodies.flatMap((body) => fields(inner(body))))
      ]
      for (const name of names) found.add(name)
      return names
        .filter((name, at) => names.indexOf(name) !== at)
        .map((name) => `${group}.${endpoint.identifier}: ${name}`)
    })
    assert.deepStrictEqual(twice, [])
    assert.includeMembers([...found], ["project_id", "limit", "last-event-id", "role"])
  })

  it("inputs are one flat object of path, query and body, as on the wire", () => {
    expectTypeOf<Input<Client["branches"]["reset"]>>().toEqualTypeOf<{
      readonly project_id: string
      readonly branch_id: string
    }>()
    expectTypeOf<Input<Client["branches"]["change"]>>().toEqualTypeOf<{
      readonly project_id: string
      readonly branch_id: string
      readonly name?: string | null
      readonly protected?: boolean | null
      readonly ttl_seconds?: number | null
    }>()
    expectTypeOf<Input<Client["orgs"]["changeMember"]>>().toEqualTypeOf<{
      readonly org_id: string
      readonly user_id: string
      readonly role: string
      readonly confirm_self_lockout?: string
    }>()
    expectTypeOf<Input<Client["projects"]["list"]>>().toEqualTypeOf<
      { readonly limit?: number; readonly cursor?: string; readonly include?: string } | undefined
    >()
    expectTypeOf<Input<Client["ipAllow"]["reset"]>>().toEqualTypeOf<{ readonly project_id: string }>()
    expectTypeOf<InputOf<Create>>().toEqualTypeOf<Input<Client["projects"]["create"]>>()
  })

  it("outputs are plain JSON, and secrets are text", () => {
    expectTypeOf<Output<Client["projects"]["get"]>["project"]["created_at"]>().toEqualTypeOf<string>()
    expectTypeOf<Output<Client["projects"]["get"]>["project"]["id"]>().toEqualTypeOf<string>()
    expectTypeOf<Output<Client["apiKeys"]["create"]>["secret"]>().toEqualTypeOf<string>()
    expectTypeOf<Output<Client["sandboxes"]["create"]>["connection_uri"]>().toEqualTypeOf<string>()
    expectTypeOf<Output<Client["auth"]["exchange"]>["access_token"]>().toEqualTypeOf<string>()
    expectTypeOf<Output<Client["apiKeys"]["revoke"]>>().toEqualTypeOf<void>()
    expectTypeOf<Output<Client["events"]["stream"]>>().toEqualTypeOf<ReadableStream<Uint8Array>>()
    expectTypeOf<OutputOf<Create>>().toEqualTypeOf<Output<Client["projects"]["create"]>>()
  })

  it("the types with names and texts are those of the schemas", () => {
    expectTypeOf<Different>().toEqualTypeOf<never>()
    expectTypeOf<Same<ClientEvent, typeof Envelope.Encoded>>().toEqualTypeOf<true>()
    expectTypeOf<Same<OperationAnswer, typeof OperationRecord.Encoded>>().toEqualTypeOf<true>()
    expectTypeOf<Same<SessionJson, typeof SessionAnswer.Encoded>>().toEqualTypeOf<true>()
  })

  it("each call has the codes of its endpoint, its middleware and the client", () => {
    type Codes<M> = M extends { readonly codes: ReadonlySet<infer Code> } ? Code : never
    type Creation = Codes<Client["projects"]["create"]>
    expectTypeOf<"region_required" | "quota_exceeded" | "token_expired" | "invalid_request">().toExtend<Creation>()
    expectTypeOf<"unreachable" | "secret_lost">().toExtend<Creation>()
    expectTypeOf<Extract<Codes<Client["projects"]["list"]>, "region_required">>().toEqualTypeOf<never>()
    expectTypeOf<NarthexError<Creation>["code"]>().toEqualTypeOf<Creation>()
    const { projects } = createClient({ baseUrl: "http://narthex.invalid" })
    assert.isTrue(projects.create.codes.has("region_required"))
    assert.isFalse((projects.list.codes as ReadonlySet<string>).has("region_required"))
  })
})

/** Keeps the constraint of `InputOf` in step with the endpoints of the contract. */
type _EveryEndpoint = Endpoints extends HttpApiEndpoint.ConstraintRequest ? true : never
