/**
 * `narthex org list|switch|usage`. A key belongs to one organization (docs/design/cli.md C9), so `switch` selects a context
 * of the other organization, or starts a login that creates one.
 */
import { isKeySecret } from "@narthex/api"
import { Effect, Redacted, Stdio } from "effect"
import { Argument, Command } from "effect/cli"
import { answered, everyPage, isRecord, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { noContexts, type StoredContexts } from "../contexts/StoredContexts.ts"
import { isSameServer } from "../environment/serverUrl.ts"
import { NotSignedIn, UsageMistake } from "../failures/LocalFailure.ts"
import { agrees, canAsk } from "../input/confirm.ts"
import { pastedArgument } from "../input/flags.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { rows } from "../output/table.ts"
import { useContext } from "./contexts.ts"
import { performLogin } from "./login.ts"
import { orgChanges } from "./orgChanges.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client, bearer } = yield* (yield* Connection).authenticated
      const stored = yield* Effect.orElseSucceed((yield* ContextFile).read, () => noContexts)
      const { body, value } = yield* output.waiting(
        "Listing organizations",
        everyPage("organizations", (query) => client.api.orgs.list({ query, ...withBody }))
      )
      const contexts = (id: unknown) => contextsOf(stored, id, bearer.url)
      yield* output.answer({
        body: { ...(isRecord(body) ? body : {}), organizations: organizationsIn(body, contexts) },
        table: rows(
          ["id", "name", "role", "contexts"],
          ...value.map(({ id, name, role }) => [id, name, role, contexts(id).join(", ")])
        ),
        empty: "The credential has access to no organization."
      })
      // Programs that read the list are not told each time.
      if (isKeySecret(Redacted.value(bearer.secret)) && (yield* (yield* Stdio.Stdio).stderrIsTerminal))
        yield* output.note("An API key sees its own organization only. You may be a member of others: narthex open")
    })
  )
).pipe(
  Command.withDescription("List your organizations and the contexts of each"),
  Command.withExamples([{ command: "narthex org list" }])
)

const usage = Command.make("usage", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const { value } = yield* answered(client.api.auth.whoami({ ...withBody }))
        return yield* answered(client.api.orgs.usage({ params: { org_id: value.organization.id }, ...withBody }))
      })
      const { body, value } = yield* output.waiting("Reading the usage", asked)
      yield* output.answer({
        body,
        table: rows(
          ["quota", "used", "limit"],
          ...value.usage.map(({ allowed, held, quota }) => [
            quota.replace(/_bytes$/, ""),
            amount(quota, held),
            amount(quota, allowed)
          ])
        ),
        empty: "The organization has no quotas."
      })
    })
  )
).pipe(
  Command.withDescription("Show what your organization holds of its quotas, and how much it may have"),
  Command.withExamples([{ command: "narthex org usage" }])
)

/** Bytes in GiB with two decimals; other amounts as they are. */
const amount = (quota: string, value: number): string =>
  quota.endsWith("_bytes") ? `${(value / 1024 ** 3).toFixed(2)} GiB` : String(value)

const contextsOf = (stored: StoredContexts, id: unknown, url: string): ReadonlyArray<string> =>
  Object.entries(stored.contexts)
    .filter(([, context]) => context.organization?.id === id && isSameServer(context.url, url))
    .map(([name]) => name)

/** The organizations of the body, each with the names of its contexts. */
const organizationsIn = (body: unknown, contextsOfId: (id: unknown) => ReadonlyArray<string>) => {
  const found = isRecord(body) && Array.isArray(body["organizations"]) ? body["organizations"] : []
  return found.map((organization: unknown) =>
    isRecord(organization) ? { ...organization, contexts: contextsOfId(organization["id"]) } : organization
  )
}

const switchTo = Command.make(
  "switch",
  {
    organization: pastedArgument("organization").pipe(
      Argument.withDescription("The name or id of the organization, or the name of a context")
    )
  },
  ({ organization }) =>
    reporting(
      Effect.gen(function* () {
        const stored = yield* (yield* ContextFile).read
        const [name, ...others] = contextsFor(stored, organization)
        if (name !== undefined && others.length === 0) return yield* useContext(name)
        if (name !== undefined)
          return yield* new UsageMistake({
            message: `Several contexts belong to "${organization}": ${[name, ...others].join(", ")}.`,
            hint: "narthex context use <name>"
          })
        const context = contextNameFor(organization)
        const none = `No stored key belongs to "${organization}".`
        if (
          !(yield* canAsk) ||
          !(yield* agrees(`${none} A login creates one; choose the organization in the browser.`))
        )
          return yield* new NotSignedIn({
            message: none,
            hint: `narthex login --context ${context}, and choose the organization in the browser`
          })
        return yield* performLogin({ context, name: undefined, noBrowser: false, withToken: false })
      })
    )
).pipe(
  Command.withDescription("Use the stored key of another organization"),
  Command.withExamples([{ command: "narthex org switch acme" }])
)

/** The context of that name, else the contexts of the organization with that id or name. */
const contextsFor = (stored: StoredContexts, wanted: string): ReadonlyArray<string> =>
  Object.hasOwn(stored.contexts, wanted)
    ? [wanted]
    : Object.entries(stored.contexts)
        .filter(([, { organization }]) => organization?.id === wanted || organization?.name === wanted)
        .map(([name]) => name)

const contextNameFor = (organization: string): string =>
  organization
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "")
    .slice(0, 64) || "other"

export const org = Command.make("org").pipe(
  Command.withDescription("Organizations"),
  Command.withSubcommands([list, switchTo, usage, ...orgChanges])
)
