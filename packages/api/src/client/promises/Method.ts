/**
 * The type of a call of the promise client, derived from the contract `Api` (docs/design/client.md L1–L5).
 *
 * A call takes one flat object: the members of path, query, headers and body. Values are those of the wire: JSON, with
 * timestamps and secrets as text. No endpoint has a name twice; a test holds it.
 */
import type { Schema } from "effect"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiMiddleware, HttpApiSchema } from "effect/http-api"
import type { Api } from "../../Api.ts"
import type { ClientFailureCode } from "../../problems/NarthexError.ts"
import type { Page } from "../pages.ts"

export interface CallOptions {
  /** Aborts the call: it rejects with the code `aborted`. */
  readonly signal?: AbortSignal
  /**
   * For calls that change something: repeating a call with the same key has no second effect. Default: a key per call.
   */
  readonly idempotencyKey?: string
  /** The credential of this call instead of the client's. */
  readonly credential?: string
  /** Additional headers of this call. */
  readonly headers?: Readonly<Record<string, string>>
}

type AnyEndpoint = HttpApiEndpoint.ConstraintRequest & {
  readonly "~Success": unknown
  readonly "~Error": Schema.Constraint
}

/** The wire form of a schema. Endpoints hold schemas inside codecs whose encoded type is any JSON. */
type WireOf<S> = S extends { readonly schema: infer Inner extends Schema.Constraint }
  ? Inner["Encoded"]
  : S extends Schema.Constraint
    ? S["Encoded"]
    : never

/** Members by name; none for a part that an endpoint does not have, or that only refuses what is sent. */
type MembersOf<S> = [S] extends [never]
  ? unknown
  : Exclude<WireOf<S>, null> extends infer Members
    ? string extends keyof Members
      ? unknown
      : Members
    : never

type Flat<T> = T extends object ? { readonly [Name in keyof T]: T[Name] } : {}

/** The input of a call. */
export type InputOf<Endpoint extends AnyEndpoint> = Flat<
  MembersOf<Endpoint["~Params"]> &
    MembersOf<Endpoint["~Query"]> &
    MembersOf<Endpoint["~Headers"]> &
    MembersOf<Endpoint["~Payload"]>
>

/** Secrets are `null` on a replay only, and a replay without its secrets rejects with `secret_lost`. */
export type SecretMember = "secret" | "password" | "connection_uri"

type Shown<Answer> = Answer extends object
  ? keyof Answer & SecretMember extends never
    ? Answer
    : { readonly [Name in keyof Answer]: Name extends SecretMember ? NonNullable<Answer[Name]> : Answer[Name] }
  : Answer

/** The value that a call resolves to. */
export type OutputOf<Endpoint extends AnyEndpoint> = Endpoint["~Success"] extends HttpApiSchema.StreamUint8Array
  ? ReadableStream<Uint8Array>
  : Shown<WireOf<Endpoint["~Success"]>>

type CodeIn<Problem> = Problem extends { readonly code: infer Code extends string } ? Code : never

/** The codes with which a call can reject. */
export type CodeOf<Endpoint extends AnyEndpoint> =
  | CodeIn<Endpoint["~Error"]["Type"]>
  | CodeIn<HttpApiMiddleware.Error<Endpoint["~Middleware"]>>
  | ClientFailureCode

/** A call of the contract. */
export interface ClientMethod<Args extends ReadonlyArray<unknown>, Output, Code extends string> {
  (...args: Args): Promise<Output>
  /** The codes with which the call can reject, as far as this version knows. */
  readonly codes: ReadonlySet<Code>
}

/** A call whose answer is a page of a list. */
export interface ListMethod<Args extends ReadonlyArray<unknown>, Output, Code extends string>
  extends ClientMethod<Args, Output, Code> {
  /**
   * The pages from the given `cursor` on, or from the beginning. The next one is read when the loop asks for it, and each
   * loop reads the list again.
   */
  readonly pages: (...args: Args) => AsyncIterable<Output>
}

type ArgsOf<Endpoint extends AnyEndpoint> =
  {} extends InputOf<Endpoint>
    ? [input?: InputOf<Endpoint>, options?: CallOptions]
    : [input: InputOf<Endpoint>, options?: CallOptions]

/** The call of an endpoint with this output, which is `OutputOf` the endpoint under a name. */
type MethodOf<Endpoint extends AnyEndpoint, Output> = Output extends Page
  ? ListMethod<ArgsOf<Endpoint>, Output, CodeOf<Endpoint>>
  : ClientMethod<ArgsOf<Endpoint>, Output, CodeOf<Endpoint>>

type Endpoints =
  typeof Api extends HttpApi.HttpApi<infer _Id, infer Groups>
    ? {
        readonly [Group in Groups as HttpApiGroup.Identifier<Group>]: Group["endpoints"]
      }
    : never

/** The call `name` of a group of the contract. */
export type Method<
  Group extends keyof Endpoints,
  Name extends keyof Endpoints[Group],
  Output
> = Endpoints[Group][Name] extends AnyEndpoint ? MethodOf<Endpoints[Group][Name], Output> : never
