/** The double's calls on the credentials of a branch. */
import type { ProblemCode } from "@narthex/api"
import type { Answered } from "./ApiDouble.ts"
import type { StoredProject } from "./DoubleState.ts"
import { credentialView } from "./doubleViews.ts"

interface Refused {
  readonly refused: ProblemCode
  readonly detail?: string
}

const mint = (project: StoredProject, access: string): Answered => {
  const minted = { role: `role_${project.credentials.length + 1}`, access, stuck: false }
  project.credentials.unshift(minted)
  const credential = credentialView(project, minted)
  return { status: 201, body: { credential, password: "pw", connection_uri: "postgresql://r:pw@host/db" } }
}

const revoke = ({ credentials }: StoredProject, role: string): Answered | Refused => {
  const at = credentials.findIndex((it) => it.role === role)
  if (at < 0) return { refused: "not_found" }
  if (credentials[at]?.stuck === true)
    return { refused: "unavailable", detail: "The end of its sessions is not confirmed yet." }
  credentials.splice(at, 1)
  return { status: 204 }
}

/** `rest`: the path below the project. `undefined`: another call. */
export const credentialCalls = (
  project: StoredProject,
  method: string,
  rest: string,
  access: string
): Answered | Refused | undefined => {
  const path = `/branches/${project.branch_id}/credentials`
  if (rest === path && method === "POST") return mint(project, access)
  if (rest === path && method === "GET") {
    const credentials = project.credentials.map((it) => credentialView(project, it))
    return { status: 200, body: { credentials, pagination: { next_cursor: null } } }
  }
  const role = rest.startsWith(`${path}/`) ? rest.slice(path.length + 1) : undefined
  return method === "DELETE" && role !== undefined ? revoke(project, role) : undefined
}
