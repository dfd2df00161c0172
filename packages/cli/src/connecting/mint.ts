/** Mints a Postgres role on the branch of a command. Its password and connection string are shown once. */
import type { BranchId, MintCredential, MintedCredential, ProjectId } from "@narthex/api"
import { Effect, type Option, type Redacted } from "effect"
import { answered, withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { chooseBranch } from "../names/branches.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"

export interface BranchGiven {
  readonly project: Option.Option<string>
  readonly branch: Option.Option<string>
}

interface BranchPath {
  readonly project_id: ProjectId
  readonly branch_id: BranchId
}

/** The path of the branch that the flags name, else of the default one. */
export const branchPath = Effect.fnUntraced(function* (api: AuthenticatedApi, { branch, project }: BranchGiven) {
  const chosen = yield* chooseProject(api, project)
  return { project_id: chosen.id, branch_id: yield* chooseBranch(api, chosen, branch) } satisfies BranchPath
})

export interface Minted {
  readonly body: unknown
  readonly credential: (typeof MintedCredential.Type)["credential"]
  readonly password: Redacted.Redacted
  readonly connection_uri: Redacted.Redacted
}

/** A replayed answer has no secret: then the role exists, and nothing can connect with it. */
export const mint = Effect.fn("mint")(function* (
  { client }: AuthenticatedApi,
  params: BranchPath,
  payload: MintCredential
) {
  const output = yield* Output
  const { body, value } = yield* output.waiting(
    "Creating a credential",
    answered(client.api.branches.mint({ params, payload, ...withBody }))
  )
  const { connection_uri, credential, password } = value
  if (password === null || connection_uri === null) return yield* secretLost(credential.role)
  return { body, credential, password, connection_uri } satisfies Minted
})

/** The answer with the secret did not arrive, and a repetition does not show it again. */
export const secretLost = (role: string) =>
  new Stopped({
    message: `The role ${role} was created, but the answer with its password was lost.`,
    hint: `run the command again; narthex credential revoke ${role} removes this role`
  })
