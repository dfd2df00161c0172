/** Runs once before and after all test files: checks the requirements of CI, and serves the shared resources. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { resolve } from "node:path"
import { chromium } from "playwright-core"
import type { TestProject } from "vitest/node"
import { renderGuides } from "../../scripts/guides.ts"
import { startSharedPlatform } from "../support/SharedPlatform.ts"
import { chromiumLaunch } from "./chromiumLaunch.ts"
import { postgres, programs } from "./makers.ts"
import { type MakeResource, ResourceServer } from "./ResourceServer.ts"
import { missingInCi } from "./requirements.ts"

const root = resolve(import.meta.dirname, "../..")

const browser: MakeResource = async () => {
  const server = await chromium.launchServer(chromiumLaunch())
  return { description: { endpoint: server.wsEndpoint() }, end: () => server.close() }
}

/** Runs a step of the build in a process of its own. Rejects with its output if it fails. */
const built = async (name: string, args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString()
    })
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`${name} failed:\n${said}`)
  return { description: {}, end: async () => undefined }
}

const build: MakeResource = () => built("npm run build", ["scripts/build.ts", "--programs"])

/** The libraries in their `dist`, with declarations. Two compilers at once would read what the other one writes. */
const libraries: MakeResource = () => built("tsc -b", ["node_modules/typescript/bin/tsc", "-b", "tsconfig.build.json"])

export default async ({ provide }: TestProject) => {
  renderGuides()
  const missing = missingInCi()
  if (missing.length > 0)
    throw new Error(
      `CI skips no test, and this machine has no ${missing.map(({ how, what }) => `${what} (${how})`).join(", no ")}.`
    )
  const server: ResourceServer = await ResourceServer.start({
    postgres,
    chromium: browser,
    build,
    libraries,
    programs,
    platform: () => server.resource("build").then(startSharedPlatform)
  })
  provide("resources", server.socket)
  return () => server.stop()
}
