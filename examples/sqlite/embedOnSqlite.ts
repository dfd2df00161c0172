/**
 * A control plane in your own program on a SQLite file: sign a person in, and create a project unless there is one.
 *
 *     export NARTHEX_SECRET=$(node -p 'crypto.randomBytes(32).toString("base64url")')
 *     node --conditions=source examples/sqlite/embedOnSqlite.ts
 */
import { type ControlPlane, createControlPlane } from "narthex"
import { sqliteStorage } from "./src/sqliteStorage.ts"

/** Keys and sessions outlive the process, because the secret under which they are made does, too. */
export const controlPlaneOn = (path: string, secret: string) =>
  createControlPlane({ storage: { durable: true, layer: sqliteStorage(path) }, secret })

/** Creates a project, or finds the one that an earlier process created. */
export const program = async (cp: ControlPlane) => {
  const ada = await cp.people.ensure({ subject: "user_42", email: "ada@example.com", email_verified: true })
  const session = await cp.sessions.start(ada)
  const client = cp.client(session)
  const [known] = (await client.projects.list({ limit: 1 })).projects
  const project = known ?? (await client.projects.create({ name: "shop" })).project
  console.log(`${known === undefined ? "created" : "found"} ${project.id}`)
  return { client, known: known !== undefined, project, session }
}

if (import.meta.main) {
  await using cp = await controlPlaneOn("narthex.sqlite", process.env["NARTHEX_SECRET"] ?? "")
  await program(cp)
}
