/** Shared resources that benchmarks use, too: a Postgres server, and the programs of tests. */
import { ServerProcess } from "../../packages/postgres/test/support/ServerProcess.ts"
import { bundle } from "../../packages/server/bundle.ts"
import { programSources, programsFolder } from "./programs.ts"
import type { MakeResource } from "./ResourceServer.ts"

export const postgres: MakeResource = async () => {
  const server = await ServerProcess.start()
  return { description: { url: server.url }, end: () => server.remove() }
}

export const programs: MakeResource = async () => {
  await bundle(programSources, programsFolder)
  return { description: {}, end: async () => undefined }
}
