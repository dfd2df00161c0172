/**
 * Rights to follow a stream, and the types of which the ways to end them are made. The ways are in `keyEndings.ts` and
 * `memberEndings.ts`.
 */
import type { OperatorAccounts } from "@narthex/core"
import { Effect, Random } from "effect"
import { type ApiProcess, call, signIn } from "./ApiProcesses.ts"

/** The data of a revocation in the log. */
export type Mark = Readonly<Record<string, string>>

export interface Right {
  /** Which way of ending it stands for. */
  readonly way: string
  readonly token: string
  /** `null`: the organization's stream. */
  readonly project: string | null
  /** How its end may be written in the log; the first of these rows counts. */
  readonly marks: ReadonlyArray<Mark>
  /** The status that its holder is answered afterwards. */
  readonly afterwards: number
}

/** One change that ends one or more rights. */
export interface Ending {
  readonly rights: ReadonlyArray<Right>
  readonly end: Effect.Effect<unknown, unknown, OperatorAccounts>
}

export const pathOf = ({ project }: Right) => (project === null ? "/v1/events" : `/v1/projects/${project}/events`)

/** The servers, for a caller to whom any of them may answer. */
export const anyOf = (servers: ReadonlyArray<ApiProcess>) => {
  const port = Effect.map(Random.nextIntBetween(0, servers.length - 1), (at) => servers[at]?.port ?? 0)
  return {
    port,
    api: (method: string, path: string, options: Parameters<typeof call>[3]) =>
      Effect.flatMap(port, (at) => Effect.promise(() => call(at, method, path, options))),
    enter: (email: string) => Effect.flatMap(port, (at) => Effect.promise(() => signIn(at, email)))
  }
}
export type Anywhere = ReturnType<typeof anyOf>

export const sessionOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sid

/** A right to the organization's stream, and one to the project's. */
export const toBoth = ({ project }: Team, right: Omit<Right, "project">): ReadonlyArray<Right> => [
  { ...right, project: null },
  { ...right, project }
]

/** A new organization with a project, and its owner, signed in to it with a separate session. */
export interface Team {
  readonly id: string
  readonly project: string
  readonly anywhere: Anywhere
  readonly boss: string
  readonly token: string
}

export const makeTeam = (anywhere: Anywhere, boss: string): Effect.Effect<Team> =>
  Effect.gen(function* () {
    const { token: alone } = yield* anywhere.enter(boss)
    const { body } = yield* anywhere.api("POST", "/v1/orgs", { token: alone, body: { name: "team" } })
    const id = String(body.organization.id)
    const token = yield* switchTo(anywhere, id, alone)
    const made = yield* anywhere.api("POST", "/v1/projects", { token, body: { name: "doomed" } })
    return { id, project: String(made.body.project.id), anywhere, boss, token }
  })

const switchTo = ({ api }: Anywhere, org_id: string, token: string) =>
  Effect.map(api("POST", "/v1/auth/switch-org", { token, body: { org_id } }), ({ body }) => String(body.access_token))

/** A new session of a person in the team. */
export const enterTeam = ({ anywhere, id }: Team, email: string) =>
  Effect.gen(function* () {
    const { token, user } = yield* anywhere.enter(email)
    return { token: yield* switchTo(anywhere, id, token), user }
  })

export interface Key {
  readonly id: string
  readonly secret: string
}

export const makeKey = (
  { anywhere }: Team,
  token: string,
  scope: object = { type: "organization" }
): Effect.Effect<Key> =>
  Effect.map(anywhere.api("POST", "/v1/api-keys/", { token, body: { name: "k", scope } }), ({ body }) => ({
    id: String(body.api_key.id),
    secret: String(body.secret)
  }))
