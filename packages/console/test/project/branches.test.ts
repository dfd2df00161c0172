/** Branches: the tree, the page of one, and the forms on them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fieldIn } from "../support/Browser.ts"
import { layerTestConsole } from "../support/Console.ts"
import { withProject } from "../support/projectVisit.ts"

/** A project with a branch `preview` of main. */
const withBranch = Effect.fnUntraced(function* (email: string, more: Readonly<Record<string, string>> = {}) {
  const visit = yield* withProject(email)
  yield* visit.post("/branches", { name: "preview", parent: visit.project.branch_id, ...more })
  const [branch] = yield* visit.branches
  assert(branch !== undefined)
  yield* visit.settled
  /** The branch as it is now. */
  const now = Effect.map(visit.branches, (all) => all.find(({ id }) => id === branch.id))
  return { ...visit, branch, now, page: `/branches/${branch.id}` }
})

layer(layerTestConsole(), { excludeTestServices: true })("branches", (it) => {
  it.effect("the form creates a branch with lifetime and endpoint, or with protection, once", () =>
    Effect.gen(function* () {
      const { branches, endpoints, here, open, post, project, sent } = yield* withProject("creates@example.com")
      const form = yield* open("/branches/new")
      assert.match(form.text, /name="endpoint"[^>]*checked|checked[^>]*name="endpoint"/)
      const fields = {
        form_token: fieldIn(form, "form_token"),
        name: "preview",
        parent: project.branch_id,
        lifetime: "86400",
        endpoint: "true"
      }
      const made = yield* post("/branches", fields)
      assert.deepStrictEqual(sent("POST", "/branches"), {
        name: "preview",
        parent_id: project.branch_id,
        ttl_seconds: 86_400,
        endpoint: true
      })
      const [branch] = yield* branches
      assert.strictEqual(made.headers.get("location"), `${here}/branches/${branch?.id}?done=branch-created`)
      assert.lengthOf(yield* endpoints, 1)
      const page = yield* open(`/branches/${branch?.id}`)
      assert.match(page.text, /<h1>preview<\/h1>/)
      assert.match(page.text, /Copied from[\s\S]*?>main</)
      yield* post("/branches", fields)
      assert.lengthOf(yield* branches, 1)
      yield* post("/branches", { name: "kept", parent: project.branch_id, protected: "true" })
      assert.deepInclude(sent("POST", "/branches"), { name: "kept", protected: true })
    })
  )

  it.effect("a wrong or taken name is a sentence, and the draft is kept", () =>
    Effect.gen(function* () {
      const { post } = yield* withBranch("names@example.com")
      const wrong = yield* post("/branches", { name: "1st", lifetime: "3600" })
      assert.strictEqual(wrong.status, 422)
      assert.match(wrong.text, /id="name-error">Use a letter first/)
      assert.strictEqual(fieldIn(wrong, "name"), "1st")
      assert.match(wrong.text, /<option value="3600" selected>/)
      const taken = yield* post("/branches", { name: "preview" })
      assert.strictEqual(taken.status, 409)
      assert.match(taken.text, /role="alert"[\s\S]*Another branch of this project is called/)
    })
  )

  it.effect("the tree shows each branch below the one it was copied from, and what it lacks", () =>
    Effect.gen(function* () {
      const { branch, open, post, settled } = yield* withBranch("tree@example.com")
      yield* post("/branches", { name: "try", parent: branch.id, endpoint: "true" })
      yield* settled
      const { text } = yield* open("/branches")
      assert.match(text, /depth-0[\s\S]*?>main<[\s\S]*?depth-1[\s\S]*?>preview<[\s\S]*?depth-2[\s\S]*?>try</)
      assert.match(text, />preview<[\s\S]*?no endpoint[\s\S]*?>try<[\s\S]*?suspended/)
    })
  )

  it.effect("the tree, the overview and the page of a branch show its size, or that it is not known", () =>
    Effect.gen(function* () {
      const { api, branch, open, project } = yield* withBranch("sizes@example.com")
      const measured = { size_bytes: 33_200_000, size_measured_at: "2026-11-20T12:00:00.000Z" }
      const unknown = { size_bytes: null, size_measured_at: null }
      api.reading((it) =>
        "size_bytes" in it ? { ...it, ...(it["id"] === project.branch_id ? measured : unknown) } : it
      )
      const size = /title="33,200,000 bytes"[^>]*>33\.2\u00a0MB</
      for (const page of ["/branches", ""]) {
        const { text } = yield* open(page)
        assert.match(text, size)
        assert.match(text, /data-label="Size"><span class="faint">unknown</)
      }
      assert.match((yield* open("/branches")).text, /class="p-line end" data-label="Size"/)
      const main = yield* open(`/branches/${project.branch_id}`)
      assert.match(main.text, size)
      assert.match(main.text, />33\.2\u00a0MB<\/data>, measured <local-time/)
      const preview = yield* open(`/branches/${branch.id}`)
      assert.match(preview.text, /<dt>Size<\/dt><dd><span class="faint">not measured yet<\/span><\/dd>/)
      api.plane.instead = undefined
    })
  )

  it.effect("only what the person changed is sent", () =>
    Effect.gen(function* () {
      const { now, page, post, sent } = yield* withBranch("changes@example.com")
      const renamed = yield* post(page, { name: "staging", expiry: "keep" })
      assert.match(renamed.headers.get("location") ?? "", /\?done=branch-changed$/)
      assert.deepStrictEqual(sent("PATCH", page), { name: "staging" })
      yield* post(page, { name: "staging", expiry: "keep", protected: "true" })
      assert.deepStrictEqual(sent("PATCH", page), { protected: true })
      yield* post(page, { name: "staging", expiry: "3600" })
      assert.deepStrictEqual(sent("PATCH", page), { protected: false, ttl_seconds: 3600 })
      yield* post(page, { name: "staging", expiry: "never" })
      assert.deepStrictEqual(sent("PATCH", page), { ttl_seconds: null })
      assert.isNull((yield* now)?.expires_at)
      assert.strictEqual((yield* post(page, { name: "no spaces" })).status, 422)
      assert.strictEqual((yield* now)?.name, "staging")
    })
  )

  it.effect("a branch is deleted only after its name was typed", () =>
    Effect.gen(function* () {
      const { branches, here, open, page, post } = yield* withBranch("deletes@example.com")
      assert.match((yield* open(page)).text, /<dialog id="delete-branch"[\s\S]*Its data is lost/)
      for (const typed of ["", "Preview", "main"]) {
        const refused = yield* post(`${page}/delete`, { typed })
        assert.strictEqual(refused.status, 422)
        assert.match(refused.text, /Nothing was deleted\./)
      }
      assert.lengthOf(yield* branches, 1)
      const deleted = yield* post(`${page}/delete`, { typed: "preview" })
      assert.strictEqual(deleted.headers.get("location"), `${here}/branches?done=branch-deleted`)
      assert.lengthOf(yield* branches, 0)
    })
  )

  it.effect("the page of a branch that cannot be reset or deleted says why and has no button", () =>
    Effect.gen(function* () {
      const { branch, open, page, post, project, settled } = yield* withBranch("kept@example.com", {
        protected: "true"
      })
      const kept = (yield* open(page)).text
      assert.match(kept, /A protected branch is not reset/)
      assert.match(kept, /A protected branch is not deleted/)
      assert.notMatch(kept, /<dialog id="(reset|delete)-branch"/)
      const main = (yield* open(`/branches/${project.branch_id}`)).text
      assert.match(main, /The default branch is not deleted\. Make another one the default first/)
      yield* post("/branches", { name: "child", parent: branch.id })
      yield* post(page, { name: "preview", expiry: "keep" })
      yield* settled
      assert.match((yield* open(page)).text, /Delete the branches that were copied from it first: child\./)
    })
  )

  it.effect("a reset says what is lost, and a refusal of the API is a sentence on the page", () =>
    Effect.gen(function* () {
      const { open, page, post, settled } = yield* withBranch("resets@example.com")
      assert.match((yield* open(page)).text, /Everything that was written to preview[^.]*is lost/)
      assert.match((yield* post(`${page}/reset`, {})).headers.get("location") ?? "", /\?done=branch-resetting$/)
      yield* settled
      yield* post(page, { name: "preview", expiry: "keep", protected: "true" })
      const refused = yield* post(`${page}/reset`, {})
      assert.strictEqual(refused.status, 409)
      assert.match(refused.text, /role="alert">The branch is protected\./)
    })
  )

  it.effect("a sandbox shows its password once", () =>
    Effect.gen(function* () {
      const { open, post, sent } = yield* withProject("sandbox@example.com")
      assert.match((yield* open("/sandboxes/new")).text, /<h1>New sandbox<\/h1>/)
      const page = yield* post("/sandboxes", { name: "agent", lifetime: "3600" })
      assert.deepStrictEqual(sent("POST", "/sandboxes"), { name: "agent", ttl_seconds: 3600 })
      assert.strictEqual(page.headers.get("cache-control"), "no-store")
      assert.match(page.text, /postgresql:\/\/role_\w+:[^@•]+@127\.0\.0\.1/)
    })
  )

  it.effect("a person who only reads sees the branches and no form", () =>
    Effect.gen(function* () {
      const { demote, open, page } = yield* withBranch("reader@example.com")
      yield* demote
      for (const path of ["/branches", page]) {
        const { status, text } = yield* open(path)
        assert.strictEqual(status, 200)
        assert.notMatch(text, /<form[^>]*projects\/|<dialog id="(reset|delete)|New branch|Add an endpoint/)
      }
    })
  )
})
