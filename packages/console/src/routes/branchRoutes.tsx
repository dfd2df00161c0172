/** The branches of a project: the tree, the page of one, and the forms that create, change, reset and delete them. */
import { ChangeBranch, CreateBranch } from "@narthex/api"
import { Effect } from "effect"
import { type ApiRefused, calling, refusedWith } from "../api/ApiRefusal.ts"
import { callOnce, newFormToken } from "../api/formToken.ts"
import { payload, wholeNumber } from "../api/payload.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import {
  branchIn,
  done,
  inProject,
  inProjectReading,
  inProjectWith,
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
import type { NoticeName } from "../requests/notices.ts"
import { branchOf, branchWanted } from "../requests/projectReads.ts"
import type { Overview } from "../requests/readOverview.ts"
import { BranchPage, type BranchPageProps } from "../views/project/Branch.tsx"
import { BranchesPage } from "../views/project/Branches.tsx"
import { type BranchDraft, NewBranchPage, type NewBranchPageProps } from "../views/project/NewBranch.tsx"
import type { BranchShown } from "../views/records.ts"
import { page } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"

const readTree = ({ params, query }: ProjectAsked) => {
  const cursor = query.get("cursor")
  return calling((api) => api.branches.list({ params, query: cursor === null ? {} : { cursor } }))
}

const tree = inProjectReading(["endpoints"], readTree, (visit, { endpoints }, { branches, pagination }) =>
  Effect.succeed(
    page(
      <BranchesPage
        {...propsOf(visit)}
        branches={branches}
        endpoints={endpoints}
        next_cursor={pagination.next_cursor}
      />
    )
  )
)

type BranchState = Refused & Pick<BranchPageProps, "draft" | "errors">

/** The parent of a branch, if it still exists. */
const parentOf = (visit: ProjectVisit, { parent_id }: BranchShown, branches: ReadonlyArray<BranchShown>) =>
  parent_id === null
    ? Effect.succeed(null)
    : Effect.catchIf(branchOf({ ...visit.params, branch_id: parent_id }, branches), refusedWith("not_found"), () =>
        Effect.succeed(null)
      )

/** All branches, among which are its parent and its copies, and the endpoints. */
const parts = ["branches", "endpoints"] as const

const branchPage = Effect.fnUntraced(function* (
  visit: ProjectVisit,
  { branches, endpoints }: Overview<(typeof parts)[number]>,
  state: BranchState = shown
) {
  const params = yield* branchIn(visit)
  const branch = yield* branchOf(params, branches)
  const parent = yield* parentOf(visit, branch, branches)
  return page(
    <BranchPage
      {...propsOf(visit, state)}
      branch={branch}
      parent={parent}
      children={branches.filter(({ parent_id }) => parent_id === branch.id)}
      endpoints={endpoints.filter(({ branch_id }) => branch_id === branch.id)}
      {...(state.draft === undefined ? {} : { draft: state.draft })}
      {...(state.errors === undefined ? {} : { errors: state.errors })}
    />,
    { status: state.status }
  )
})

/** The page after a form that changed nothing. */
const branchPageAgain = (visit: ProjectVisit, state: BranchState) =>
  Effect.flatMap(visitAgain(visit, parts), ([again, read]) => branchPage(again, read, state))

type NewBranchState = Pick<NewBranchPageProps, "draft" | "errors"> & { readonly status: number }

const newBranchPage = (visit: ProjectVisit, branches: ReadonlyArray<BranchShown>, state?: NewBranchState) => {
  const parent = branchWanted(visit.query.get("parent"), visit.project, branches)
  return page(
    <NewBranchPage
      {...propsOf(visit)}
      kind="branch"
      branches={branches}
      draft={state?.draft ?? { name: "", parent, lifetime: "", endpoint: true, protected: false }}
      errors={state?.errors ?? {}}
      form_token={newFormToken()}
    />,
    { status: state?.status ?? 200 }
  )
}

const nameRule = "Use a letter first, then letters, digits and _ . / -, at most 63 in all."

const errorsIn = (refusal: ApiRefused) => {
  if (refusal.about("name") !== undefined) return { name: nameRule }
  if (refusal.about("parent_id") !== undefined) return { parent: "Choose a branch of this project." }
  return { form: refusal.detail }
}

const create = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const draft: BranchDraft = {
      name: form.text("name"),
      parent: form.text("parent"),
      lifetime: form.text("lifetime"),
      endpoint: form.text("endpoint") === "true",
      protected: form.text("protected") === "true"
    }
    return yield* Effect.gen(function* () {
      const body = yield* payload(CreateBranch, {
        ...(draft.name === "" ? {} : { name: draft.name }),
        ...(draft.parent === "" ? {} : { parent_id: draft.parent }),
        ...(draft.lifetime === "" ? {} : { ttl_seconds: wholeNumber(draft.lifetime) }),
        ...(draft.protected ? { protected: true } : {}),
        endpoint: draft.endpoint
      })
      const { branch } = yield* callOnce(form)(
        calling((api) => api.branches.create({ params: visit.params, payload: body }))
      )
      return done(`${visit.here}/branches/${branch.id}`, "branch-created")
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) =>
        Effect.map(visitAgain(visit, ["branches"]), ([again, { branches }]) =>
          newBranchPage(again, branches, { status: refusal.status, draft, errors: errorsIn(refusal) })
        )
      )
    )
  })
)

const change = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = yield* branchIn(visit)
    const draft = {
      name: form.text("name"),
      expiry: form.text("expiry") || "keep",
      protected: form.text("protected") === "true"
    }
    const { branch } = yield* calling((api) => api.branches.get({ params }))
    return yield* Effect.gen(function* () {
      // Only what differs, because `protected` needs more rights than the rest.
      const body = yield* payload(ChangeBranch, {
        ...(draft.name === branch.name ? {} : { name: draft.name }),
        ...(draft.protected === branch.protected ? {} : { protected: draft.protected }),
        ...(draft.expiry === "keep" ? {} : { ttl_seconds: draft.expiry === "never" ? null : wholeNumber(draft.expiry) })
      })
      if (Object.keys(body).length > 0) yield* calling((api) => api.branches.change({ params, payload: body }))
      return done(`${visit.here}/branches/${branch.id}`, "branch-changed")
    }).pipe(
      Effect.catchIf(refusedInput, (refusal) => {
        const errors = refusal.about("name") === undefined ? { form: refusal.detail } : { name: nameRule }
        return branchPageAgain(visit, { status: refusal.status, draft, errors })
      })
    )
  })
)

/** The path to return to, and the notice there. */
type After = readonly [to: (visit: ProjectVisit) => string, notice: NoticeName]

const thisBranch = (visit: ProjectVisit) => `${visit.here}/branches/${visit.param("branch_id")}`

const act = (verb: "reset" | "setDefault", [to, notice]: After) =>
  inProject((visit) =>
    Effect.gen(function* () {
      const params = yield* branchIn(visit)
      return yield* calling((api) => api.branches[verb]({ params })).pipe(
        Effect.as(done(to(visit), notice)),
        Effect.catchIf(refusedNow, ({ detail, status }) => branchPageAgain(visit, { status, problem: detail }))
      )
    })
  )

/** Deletes the branch whose name was typed. A branch that no longer exists counts as deleted. */
const remove = inProject((visit) =>
  Effect.gen(function* () {
    const form = yield* Form.read
    const params = yield* branchIn(visit)
    const { branch } = yield* calling((api) => api.branches.get({ params }))
    if (form.text("typed") !== branch.name)
      return yield* branchPageAgain(visit, {
        status: 422,
        problem: `Nothing was deleted. Type the name of the branch, ${branch.name}, to confirm.`
      })
    const deleted = done(`${visit.here}/branches`, "branch-deleted")
    return yield* calling((api) => api.branches.delete({ params })).pipe(
      Effect.as(deleted),
      Effect.catchIf(refusedOrGone, ({ detail, status }) =>
        status === 404 ? Effect.succeed(deleted) : branchPageAgain(visit, { status, problem: detail })
      )
    )
  })
)

const path = "/orgs/:org_id/projects/:project_id/branches"
const one = `${path}/:branch_id` as const

export const branchRoutes: ReadonlyArray<ConsoleRoute> = [
  { method: "GET", path, answer: tree },
  { method: "POST", path, answer: create },
  {
    method: "GET",
    path: `${path}/new`,
    answer: inProjectWith(["branches"], (visit, { branches }) => Effect.succeed(newBranchPage(visit, branches)))
  },
  { method: "GET", path: one, answer: inProjectWith(parts, (visit, read) => branchPage(visit, read)) },
  { method: "POST", path: one, answer: change },
  { method: "POST", path: `${one}/reset`, answer: act("reset", [thisBranch, "branch-resetting"]) },
  { method: "POST", path: `${one}/set-default`, answer: act("setDefault", [thisBranch, "branch-default"]) },
  { method: "POST", path: `${one}/delete`, answer: remove }
]
