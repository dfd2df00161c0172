/**
 * Programs that tests run as child processes. They are bundled once for a run: loading the modules of this repository and
 * of Effect one by one costs each process more than a second of a core.
 */
import { join } from "node:path"
import { resource } from "./resource.ts"

const root = join(import.meta.dirname, "../..")

/** Where the bundles are, below the checkout's `node_modules`, so that they find what is not bundled. */
export const programsFolder = join(root, "node_modules/.cache/narthex-programs")

/** The module of each program. */
export const programSources = {
  "api-process": join(root, "test/events/support/apiProcess.ts"),
  attackers: join(root, "test/hostile/support/attackerMain.ts"),
  bystander: join(root, "test/hostile/support/bystanderMain.ts"),
  "chaos-role": join(root, "packages/postgres/test/events/chaosRole.ts"),
  "data-change": join(root, "packages/local-postgres/test/dataChange.ts"),
  "postgres-supervisor": join(root, "packages/local-postgres/test/supervisor.ts"),
  runner: join(root, "test/races/support/runnerMain.ts"),
  "storm-runner": join(root, "test/storm/support/runnerMain.ts"),
  "webhook-worker": join(root, "packages/postgres/test/webhooks/workerMain.ts")
}

/** The file of a program, once it is bundled. */
export const program = async (name: keyof typeof programSources): Promise<string> => {
  await resource("programs")
  return join(programsFolder, `${name}.js`)
}
