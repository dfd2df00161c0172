/** The endpoints of the API double, as far as the console can observe them. */
import { randomUUID } from "node:crypto"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { isLoopbackRedirect, type ProblemCode, parseCidr, problemCatalog } from "@narthex/api"
import { Result } from "effect"
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose"
import type { Answered } from "./ApiDouble.ts"
import type { DoubleState, Held } from "./DoubleState.ts"
import { credentialCalls } from "./doubleCredentials.ts"
import { ownInvitations } from "./doubleInvitations.ts"
import { peopleCalls, permissionsOf } from "./doublePeople.ts"
import { listedOperations, overviewOf, projectCalls } from "./doubleProject.ts"
import * as view from "./doubleViews.ts"

interface Call {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export const problem = (code: ProblemCode, detail?: string): Answered => {
  const { status, title } = problemCatalog[code]
  return {
    status,
    body: {
      type: `urn:narthex:problem:${code}`,
      title,
      status,
      code,
      request_id: "req-double",
      ...(detail ? { detail } : {})
    }
  }
}

const ok = (body: unknown, status = 200): Answered => ({ status, body })
const none: Answered = { status: 204 }

/** Bodies come from the typed client, so they have the types of the contract. */
const fields = (body: unknown) => (body ?? {}) as Record<string, string | number | undefined>

const exchange = async (state: DoubleState, body: unknown): Promise<Answered> => {
  const { id_token = "", nonce, provider = "" } = fields(body)
  const issuer = state.issuers.get(String(provider))
  if (issuer === undefined) return problem("invalid_token")
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
  const verified = await jwtVerify(String(id_token), keys, { issuer }).catch(() => undefined)
  if (verified === undefined || decodeJwt(String(id_token))["nonce"] !== nonce) return problem("invalid_token")
  const email = String(verified.payload["email"])
  if (state.allowlist !== null && !state.allowlist.includes(email)) return problem("email_not_allowed")
  const person = state.person(email)
  const token = state.issue(person, person.personal)
  return ok(answerFor(state, token))
}

const heldBy = (state: DoubleState, token: string): Held => {
  const held = state.held.get(token)
  if (held === undefined) throw new Error("no such token")
  return held
}
const answerFor = (state: DoubleState, token: string) => view.sessionAnswer(state, token, heldBy(state, token))

/** Calls that take an expired token too. */
const withOwnToken = (state: DoubleState, path: string, held: Held): Answered => {
  if (path === "/v1/auth/logout") {
    state.revoked.add(held.sid)
    return none
  }
  if (state.revoked.has(held.sid) || Date.now() >= held.auth_time + 12 * 3_600_000) return problem("sign_in_required")
  if (state.allowlist !== null && !state.allowlist.includes(held.person.email)) return problem("email_not_allowed")
  const isMember = state.orgs.get(held.org)?.members.has(held.person.id)
  const token = state.issue(held.person, isMember ? held.org : held.person.personal, held.sid, held.auth_time)
  return ok(answerFor(state, token))
}

const selfCalls = (state: DoubleState, { body, headers, method, url }: Call, held: Held): Answered | undefined => {
  const { org, person } = held
  switch (`${method} ${url.pathname}`) {
    case "GET /v1/auth/whoami":
      return ok({
        kind: "session",
        user: view.profile(person),
        organization: view.organization(state, org, person),
        invited_by: view.inviter(state, org, person),
        account_state: person.pending ? "pending" : "active",
        capability: null,
        scope: null,
        api_key: null,
        expires_at: new Date(held.expires_at).toISOString(),
        permissions: permissionsOf[state.orgs.get(org)?.members.get(person.id) ?? ""] ?? []
      })
    case "GET /v1/client-address": {
      const believed = state.consoleToken !== null && headers["narthex-console"] === state.consoleToken
      return ok({ address: believed ? String(headers["narthex-client-address"]) : "192.0.2.250" })
    }
    case "POST /v1/auth/switch-org": {
      const wanted = String(fields(body)["org_id"])
      if (!state.orgs.get(wanted)?.members.has(person.id)) return problem("not_a_member")
      if (state.landed.get(person.id)?.org === wanted) state.landed.delete(person.id)
      const token = state.issue(person, wanted, held.sid, held.auth_time)
      return ok(answerFor(state, token))
    }
  }
  return undefined
}

export const answerTo = async (state: DoubleState, call: Call, response: ServerResponse): Promise<Answered> => {
  const { headers, method, url } = call
  const path = url.pathname
  if (method === "POST" && path === "/v1/auth/exchange") return exchange(state, call.body)
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1]
  if (token === undefined) return problem("unauthenticated")
  const held = state.held.get(token)
  if (held === undefined) return problem("invalid_token")
  if (path === "/v1/auth/refresh" || path === "/v1/auth/logout") return withOwnToken(state, path, held)
  if (state.revoked.has(held.sid)) return problem("sign_in_required")
  if (Date.now() >= held.expires_at) return problem("token_expired")
  const self = selfCalls(state, call, held)
  if (self !== undefined) return self
  const own = ownInvitations(state, method, path, held)
  if (own !== undefined) return own === "not_found" ? problem("not_found") : own
  if (held.person.pending) return problem("alpha_pending")
  if (!state.orgs.get(held.org)?.members.has(held.person.id)) return problem("not_a_member")
  const replay_key = headers["idempotency-key"]
  const people = peopleCalls(state, held, {
    ...call,
    replay_key: replay_key === undefined ? replay_key : String(replay_key)
  })
  if (people !== undefined) return "refused" in people ? problem(people.refused, people.detail) : people
  return inOrganization(state, call, held, response)
}

const pagination = { next_cursor: null }

const inOrganization = (state: DoubleState, call: Call, held: Held, response: ServerResponse): Answered => {
  const { body, headers, method, url } = call
  const { org, person } = held
  const given = fields(body)
  const projects = [...state.projects.values()].filter(({ org_id }) => org_id === org)
  const replayKey = headers["idempotency-key"]
  const replayed = replayKey === undefined ? undefined : state.replays.get(String(replayKey))
  const remember = (answer: unknown, replay: unknown = answer) => {
    if (replayKey !== undefined) state.replays.set(String(replayKey), replay)
    return ok(answer, 201)
  }
  switch (`${method} ${url.pathname}`) {
    case "GET /v1/orgs": {
      const mine = [...state.orgs.values()].filter(({ members }) => members.has(person.id))
      const dates = { created_at: "2026-11-20T12:00:00.000Z", updated_at: "2026-11-20T12:00:00.000Z" }
      return ok({
        organizations: mine.map(({ id }) => ({ ...view.organization(state, id, person), ...dates })),
        pagination: { next_cursor: null }
      })
    }
    case "GET /v1/account":
      return ok(
        view.accountView(state, held, permissionsOf[state.orgs.get(org)?.members.get(person.id) ?? ""] ?? [], url)
      )
    case "GET /v1/regions":
      return ok({
        regions: state.regions.map((id, index) => ({
          region_id: id,
          name: id,
          default: index === 0,
          geo_lat: 0,
          geo_long: 0,
          ...state.places.get(id)
        }))
      })
    case "GET /v1/projects":
      return ok({
        projects: projects.slice(-Number(url.searchParams.get("limit") ?? 1000)).map(view.listedProject(url)),
        pagination
      })
    case "POST /v1/projects": {
      if (replayed !== undefined) return ok(replayed, 201)
      if (given["region"] === undefined && state.regions.length > 1) return problem("region_required")
      const project = state.addProject(org, String(given["name"]), String(given["region"] ?? state.regions[0]))
      return remember({
        project: view.projectView(project),
        branch: view.branchView(project),
        endpoint: view.endpointView(project),
        operations: []
      })
    }
    case "GET /v1/api-keys/":
      return ok({
        api_keys: [...state.keys.values()].filter((key) => key.org_id === org).map(view.keyView),
        pagination
      })
    case "POST /v1/api-keys/": {
      if (replayed !== undefined) return ok(replayed, 201)
      const scope = given["scope"] as { readonly type: string } | undefined
      const key = state.addKey({
        org_id: org,
        name: String(given["name"]),
        capability: String(given["capability"] ?? "read_write"),
        scope: scope ?? { type: "organization" },
        expires_in_days: given["expires_in_days"] === undefined ? null : Number(given["expires_in_days"]),
        person
      })
      const api_key = view.keyView(key)
      return remember({ api_key, secret: `nsk_${"s".repeat(49)}` }, { api_key, secret: null })
    }
    case "POST /v1/cli/authorizations": {
      if (!isLoopbackRedirect(String(given["redirect_uri"]))) return problem("invalid_request")
      if (state.usedStates.has(String(given["state"]))) return problem("conflict")
      state.usedStates.add(String(given["state"]))
      return ok({ code: "one-time-code", expires_at: new Date(Date.now() + 60_000).toISOString() }, 201)
    }
    case "GET /v1/events":
      return stream(state, response)
  }
  const key = /^DELETE \/v1\/api-keys\/([^/]+)$/.exec(`${method} ${url.pathname}`)?.[1]
  if (key !== undefined) return state.keys.delete(key) ? none : problem("not_found")
  const [, id, rest = ""] = /^\/v1\/projects\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? []
  const project = projects.find((it) => it.id === id)
  if (project === undefined) return problem("not_found")
  return inProject(state, { ...call, rest }, project, held, response)
}

const inProject = (
  state: DoubleState,
  { body, method, rest, url }: Call & { readonly rest: string },
  project: DoubleState["projects"] extends Map<string, infer P> ? P : never,
  { person }: Held,
  response: ServerResponse
): Answered => {
  const endpoint = `/endpoints/${project.endpoint_id}`
  const given = fields(body)
  const inside = projectCalls(project, { given, method, query: url.searchParams, rest })
  if (inside !== undefined) return "refused" in inside ? problem(inside.refused, inside.detail) : inside
  switch (`${method} ${rest}`) {
    case "GET ":
    case "PATCH ":
      return ok({ project: view.projectView(project) })
    case "DELETE ":
      state.projects.delete(project.id)
      return ok({ operations: [] }, 202)
    case "GET /overview":
      return ok(overviewOf(state, project, person, url.searchParams))
    case "GET /operations":
      return ok({ operations: listedOperations(project, url.searchParams), pagination })
    case "GET /ip-allow":
      return ok(view.allowlistView(project, person))
    case "DELETE /ip-allow":
      project.rules.length = 0
      return none
    case "POST /ip-allow": {
      const parsed = parseCidr(String(given["cidr"]))
      if (Result.isFailure(parsed)) return problem("malformed_cidr", parsed.failure.message)
      const ttl = given["ttl_seconds"]
      const rule = {
        cidr: parsed.success,
        label: String(given["label"] ?? ""),
        ttl_seconds: ttl === undefined ? null : Number(ttl)
      }
      project.rules.push(rule)
      return ok(view.ruleView(rule, person), 201)
    }
    case `POST ${endpoint}/start`:
    case `POST ${endpoint}/suspend`: {
      project.endpoint_state = rest.endsWith("/start") ? "active" : "idle"
      project.operations.unshift({
        id: randomUUID(),
        action: rest.endsWith("/start") ? "start_compute" : "suspend_compute"
      })
      return ok({ endpoint: view.endpointView(project), operations: [] })
    }
    case "GET /events":
      return stream(state, response)
  }
  const ofCredentials = credentialCalls(project, method, rest, String(given["access"]))
  if (ofCredentials !== undefined)
    return "refused" in ofCredentials ? problem(ofCredentials.refused, ofCredentials.detail) : ofCredentials
  const cidr = /^\/ip-allow\/(.+)$/.exec(rest)?.[1]
  const index = project.rules.findIndex((rule) => rule.cidr === decodeURIComponent(cidr ?? ""))
  if (method !== "DELETE" || index < 0) return problem("not_found")
  project.rules.splice(index, 1)
  return none
}

const stream = (state: DoubleState, response: ServerResponse): Answered => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store, no-transform" })
  response.write(": ok\n\n")
  state.streams.add(response)
  response.once("close", () => {
    state.streams.delete(response)
    for (const tell of state.streamClosed.splice(0)) tell()
  })
  return { status: 200, written: true }
}
