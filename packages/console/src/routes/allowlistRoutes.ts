/** The forms of the IP allowlist editor. A bare address gets its prefix here, because the API takes networks only. */
import { Effect, Result } from "effect"
import { AddIpRule, parseCidrOrAddress } from "@narthex/api"
import { type ApiRefused, calling, refusedWith } from "../ApiRefusal.ts"
import { inOrganization } from "../organization.tsx"
import { payload, wholeNumber } from "../payload.ts"
import type { AllowlistDraft } from "../views/Allowlist.tsx"
import { seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"
import type { ConsoleRoute } from "../web/routes.ts"
import { projectOf, projectPage } from "./projectPages.tsx"
import { backTo } from "./projectRoutes.tsx"

/** The canonical network where our parser takes it; else the text as it is, for the API to refuse. */
const network = (text: string): string => Result.getOrElse(parseCidrOrAddress(text), () => text)

const errorsIn = (refusal: ApiRefused) => {
  if (refusal.code === "malformed_cidr" || refusal.about("cidr") !== undefined) return { cidr: refusal.detail }
  if (refusal.about("ttl_seconds") !== undefined) return { hours: "A whole number of hours, 1 to 87600." }
  return refusal.about("label") === undefined ? { cidr: refusal.detail } : { label: "At most 256 characters." }
}

const correctable = refusedWith("malformed_cidr", "invalid_request", "conflict")

const add = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = { project_id: yield* projectOf(visit) }
    const mine = form.text("use") === "client-address"
    const cidr = mine ? (yield* calling((api) => api.auth.clientAddress({}))).address : form.text("cidr")
    const draft: AllowlistDraft = { cidr, label: form.text("label"), hours: form.text("hours") }
    return yield* Effect.gen(function* () {
      const body = yield* payload(AddIpRule, {
        cidr: network(draft.cidr),
        label: draft.label,
        ...(draft.hours === "" ? {} : { ttl_seconds: wholeNumber(draft.hours) * 3600 })
      })
      yield* calling((api) => api.ipAllow.add({ params, payload: body }))
      return backTo(visit, "rule-added")
    }).pipe(
      Effect.catchIf(correctable, (refusal) =>
        projectPage(visit, { status: refusal.status, allowlist: { draft, errors: errorsIn(refusal) } })
      )
    )
  })
)

/** A rule that is gone already was removed all the same. */
const remove = inOrganization((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const project_id = yield* projectOf(visit)
    const parsed = parseCidrOrAddress(form.text("cidr"))
    // What no parser accepts never reaches a path.
    if (Result.isFailure(parsed)) return yield* projectPage(visit, { status: 422, problem: parsed.failure.message })
    return yield* calling((api) => api.ipAllow.remove({ params: { project_id, cidr: parsed.success } })).pipe(
      Effect.catchIf(refusedWith("not_found"), () => calling((api) => api.projects.get({ params: { project_id } }))),
      Effect.as(backTo(visit, "rule-removed"))
    )
  })
)

const reset = inOrganization((visit) =>
  Effect.gen(function* () {
    const params = { project_id: yield* projectOf(visit) }
    yield* calling((api) => api.ipAllow.reset({ params, query: {} }))
    return backTo(visit, "rules-reset")
  })
)

const path = "/orgs/:org_id/projects/:project_id/ip-allow"

/** A form that came back with a mistake stands here; whoever asks for this address wants the project. */
const show = inOrganization((visit) => Effect.succeed(seeOther(`${visit.home}/projects/${visit.param("project_id")}`)))

export const allowlistRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: show },
  { method: "POST", path, answer: add },
  { method: "POST", path: `${path}/remove`, answer: remove },
  { method: "POST", path: `${path}/reset`, answer: reset }
]
