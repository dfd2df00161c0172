/** The page of a project's allowlist, and the forms that add, edit, remove and check. */
import { AddIpRule, contains, parseCidrOrAddress } from "@narthex/api"
import { Clock, DateTime, Effect, Option, Result } from "effect"
import { type ApiRefused, calling, refusedWith } from "../api/ApiRefusal.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  done,
  inProject,
  inProjectReading,
  type ProjectAsked,
  type ProjectVisit,
  propsOf,
  type Refused,
  refusedInput,
  refusedNow,
  refusedOrGone,
  shown,
  visitAgain
} from "../requests/inProject.ts"
import { mostRead, readEndpoints, readOwnAddress } from "../requests/projectReads.ts"
import { AllowlistPage } from "../views/project/Allowlist.tsx"
import type { AllowlistDraft, AllowlistPageProps, Checked } from "../views/project/AllowlistRules.tsx"
import type { AllowlistShown, RuleShown } from "../views/records.ts"
import { page } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

/** How many refused clients the page shows at a time. */
const refusedShown = 20

type State = Refused & Partial<Pick<AllowlistPageProps, "draft" | "edited" | "errors" | "locksOut">>

const emptyDraft: AllowlistDraft = { cidr: "", label: "", hours: "" }

const millisecondsInHour = 3_600_000

/** A rule as the form has it. Its remaining lifetime is rounded up. */
const draftOf = ({ cidr, expires_at, label }: RuleShown, now: number): AllowlistDraft => ({
  cidr,
  label,
  hours: Option.match(expires_at, {
    onNone: () => "",
    onSome: (at) => `${Math.max(1, Math.ceil((DateTime.toEpochMillis(at) - now) / millisecondsInHour))}`
  })
})

const check = ({ params }: ProjectAsked, address: string) =>
  calling((api) => api.ipAllow.check({ params, query: { address } })).pipe(
    Effect.map(({ allowed, matched }): Checked => ({ address, allowed, matched })),
    Effect.catchIf(refusedWith("invalid_request"), () =>
      Effect.succeed<Checked>({
        address,
        allowed: null,
        matched: null,
        error: "Enter one address without port, as 203.0.113.9 or 2001:db8::1."
      })
    )
  )

/** The refused clients from the place that the address names. A text that is not a place is the beginning. */
const refusedClients = ({ params, query: asked }: ProjectAsked) => {
  const read = (query: { readonly limit: number; readonly cursor?: string }) =>
    calling((api) => api.ipAllow.refusals({ params, query }))
  const cursor = asked.get("refused") ?? ""
  const first = read({ limit: refusedShown })
  return Effect.map(
    cursor === ""
      ? first
      : Effect.catchIf(read({ limit: refusedShown, cursor }), refusedWith("malformed_request"), () => first),
    ({ pagination, refusals }) => ({ items: refusals, next_cursor: pagination.next_cursor })
  )
}

/** Refused clients outlive their endpoint. An API of an older version does not list them: `null`. */
const refusedAndEndpoints = Effect.fnUntraced(function* (asked: ProjectAsked) {
  const refusals = yield* Effect.catchIf(refusedClients(asked), refusedWith("not_found"), () => Effect.succeed(null))
  const listed = refusals === null || refusals.items.length === 0 ? [] : yield* readEndpoints(asked)
  return { refusals, endpoints: listed.length < mostRead ? new Set<string>(listed.map(({ id }) => id)) : null }
})

/** The address of a refused client that is to be allowed. Any other text is ignored. */
const toAllow = (visit: ProjectVisit): AllowlistDraft | undefined => {
  const address = visit.query.get("allow") ?? ""
  return Result.isSuccess(parseCidrOrAddress(address)) ? { ...emptyDraft, cidr: address } : undefined
}

/** Reads the parts of the page other than the rules. */
const readBeside = (asked: ProjectAsked) => {
  const address = asked.query.get("address")?.trim() ?? ""
  return Effect.all(
    [readOwnAddress, address === "" ? Effect.succeed(null) : check(asked, address), refusedAndEndpoints(asked)],
    { concurrency: "unbounded" }
  )
}

const showAllowlist = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  allowlist: AllowlistShown,
  [own, checked, { endpoints, refusals }]: Effect.Success<ReturnType<typeof readBeside>>,
  state: State = shown
) {
  const now = yield* Clock.currentTimeMillis
  const wanted = visit.query.get("edit")
  const rule = state.draft === undefined ? allowlist.rules.find(({ cidr }) => cidr === wanted) : undefined
  const prefilled = state.draft === undefined && rule === undefined ? toAllow(visit) : undefined
  return page(
    <AllowlistPage
      {...propsOf(visit, state)}
      allowlist={allowlist}
      refusals={refusals}
      endpoints={endpoints}
      prefilled={prefilled !== undefined}
      own={own}
      checked={checked}
      draft={state.draft ?? (rule === undefined ? (prefilled ?? emptyDraft) : draftOf(rule, now))}
      edited={state.edited ?? rule?.cidr ?? null}
      errors={state.errors ?? {}}
      locksOut={state.locksOut ?? false}
    />,
    { status: state.status }
  )
})

/** The page after a form that changed nothing. */
const allowlistPage = (visit: ProjectVisit, state: State) =>
  Effect.flatMap(
    Effect.all([visitAgain(visit, ["ip_allow"]), readBeside(visit)], { concurrency: "unbounded" }),
    ([[again, { ip_allow }], beside]) => showAllowlist(again, ip_allow, beside, state)
  )

/** The canonical network, with a prefix for a bare address. Text that is neither goes to the API, which refuses it. */
const network = (text: string): string => Result.getOrElse(parseCidrOrAddress(text), () => text)

const ruleErrors = (refusal: ApiRefused) => {
  if (refusal.code === "malformed_cidr" || refusal.about("cidr") !== undefined) return { cidr: refusal.detail }
  if (refusal.about("ttl_seconds") !== undefined) return { hours: "Enter a whole number of hours from 1 to 87600." }
  return refusal.about("label") === undefined ? { cidr: refusal.detail } : { label: "Use at most 256 characters." }
}

/** Codes of what the person can correct in the form. */
const correctable: ReadonlySet<string> = new Set(["malformed_cidr", "invalid_request", "conflict"])

/** Whether the rule is the first one and does not hold the visitor's address. */
const wouldLockOut = Effect.fnUntraced(function* (visit: ProjectVisit, cidr: string) {
  const parsed = parseCidrOrAddress(cidr)
  if (Result.isFailure(parsed)) return false
  const [{ restricted }, own] = yield* Effect.all([
    calling((api) => api.ipAllow.list({ params: visit.params })),
    readOwnAddress
  ])
  return !restricted && own !== null && !contains(parsed.success, own)
})

/** Adds the rule of the form, or replaces the one of the same network. */
const putRule = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const { params } = visit
    const edited = form.text("edited")
    const cidr = form.text("use") === "client-address" ? ((yield* readOwnAddress) ?? "") : form.text("cidr")
    const draft: AllowlistDraft = { cidr, label: form.text("label"), hours: form.text("hours") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(AddIpRule, {
        cidr: network(draft.cidr),
        label: draft.label,
        ...(draft.hours === "" ? {} : { ttl_seconds: wholeNumber(draft.hours) * 3600 })
      })
      if (form.text("confirmed") !== "true" && (yield* wouldLockOut(visit, draft.cidr)))
        return yield* allowlistPage(visit, { status: 409, draft, locksOut: true })
      // The visitor's address first: the list is never without it.
      if (form.text("with_own") === "true") {
        const own = yield* payload(AddIpRule, { cidr: network((yield* readOwnAddress) ?? ""), label: "" })
        yield* calling((api) => api.ipAllow.add({ params, payload: own }))
      }
      yield* calling((api) => api.ipAllow.add({ params, payload: body }))
      return done(`${visit.here}/ip-allow`, edited === "" ? "rule-added" : "rule-changed")
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) =>
        allowlistPage(visit, {
          status: refusal.status,
          draft,
          ...(edited === "" ? {} : { edited }),
          ...(correctable.has(refusal.code) ? { errors: ruleErrors(refusal) } : { problem: refusal.detail })
        })
      )
    )
  })
)

/** Removing a rule that no longer exists succeeds. */
const removeRule = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const parsed = parseCidrOrAddress(form.text("cidr"))
    // Only text that parses may become part of a path.
    if (Result.isFailure(parsed)) return yield* allowlistPage(visit, { status: 422, problem: parsed.failure.message })
    const removed = done(`${visit.here}/ip-allow`, "rule-removed")
    return yield* calling((api) => api.ipAllow.remove({ params: { ...visit.params, cidr: parsed.success } })).pipe(
      Effect.as(removed),
      Effect.catchIf(refusedOrGone, ({ detail, status }) =>
        status === 404 ? Effect.succeed(removed) : allowlistPage(visit, { status, problem: detail })
      )
    )
  })
)

const resetRules = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    if (form.text("typed") !== visit.project.name)
      return yield* allowlistPage(visit, {
        status: 422,
        problem: `No rule was removed. Type the name of the project, ${visit.project.name}, to confirm.`
      })
    return yield* calling((api) => api.ipAllow.reset({ params: visit.params, query: {} })).pipe(
      Effect.as(done(`${visit.here}/ip-allow`, "rules-reset")),
      Effect.catchIf(refusedNow, ({ detail, status }) => allowlistPage(visit, { status, problem: detail }))
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/ip-allow"

export const allowlistRoutes: ReadonlyArray<ConsoleRoute> = [
  {
    method: "GET",
    path,
    answer: inProjectReading(["ip_allow"], readBeside, (visit, { ip_allow }, beside) =>
      showAllowlist(visit, ip_allow, beside)
    )
  },
  { method: "POST", path, answer: putRule },
  { method: "POST", path: `${path}/remove`, answer: removeRule },
  { method: "POST", path: `${path}/reset`, answer: resetRules }
]
