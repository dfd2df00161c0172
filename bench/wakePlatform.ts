/** A platform with real local computes, as a user starts it: the built program, its embedded store, its proxy. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { signInAt } from "../test/support/signInAt.ts"

/** A read-write endpoint of a project of its own, with a minted role. */
export interface Sleeper {
  readonly uri: string
  /** The directory of its cluster. */
  readonly cluster: string
  /** Suspends it, and resolves when it is suspended. */
  readonly suspend: () => Promise<void>
}

export interface Platform {
  readonly sleeper: (name: string) => Promise<Sleeper>
  readonly stop: () => Promise<void>
}

interface Ready {
  readonly api: string
  readonly console: string
  readonly providers: ReadonlyArray<{ readonly id: string; readonly issuer: string }>
}

const anyPort = ["API", "CONSOLE", "PROXY", "ADMIN"].map((name) => [`NARTHEX_${name}_PORT`, "0"] as const)

/** Milliseconds between two looks at a state. */
const pause = 20

/** The members of the answers that are used here; the contract has them all. */
interface Answer {
  readonly access_token: string
  readonly connection_uri: string
  readonly project: { readonly id: string }
  readonly branch: { readonly id: string; readonly current_state: string }
  readonly endpoint: { readonly id: string; readonly current_state: string; readonly pending_state: string | null }
}

/** Builds the programs of a checkout and starts its platform. `more` are further variables of its environment. */
export const startPlatform = async (checkout: string, more: Record<string, string> = {}): Promise<Platform> => {
  execFileSync(process.execPath, ["scripts/build.ts", "--programs"], { cwd: checkout, stdio: "ignore" })
  const directory = mkdtempSync(join(tmpdir(), "narthex-wake-"))
  const data = join(directory, "data")
  const child = spawn(process.execPath, [join(checkout, "packages/server/dist/narthex-platform.js")], {
    cwd: directory,
    stdio: ["ignore", "pipe", "ignore"],
    env: {
      ...process.env,
      ...Object.fromEntries(anyPort),
      NARTHEX_DEV_PROVIDER_PORTS: "0,0",
      NARTHEX_DATA_DIR: data,
      NARTHEX_POSTGRES_BIN: "system",
      NARTHEX_QUOTA_PROJECTS: "100",
      NARTHEX_QUOTA_RUNNING_COMPUTES: "100",
      NARTHEX_QUOTA_PERSONAL_PERCENT: "100",
      NARTHEX_RATE_LIMITS: "off",
      ...more
    }
  })
  const stop = async () => {
    child.kill("SIGINT")
    if (child.exitCode === null) await once(child, "close")
    rmSync(directory, { recursive: true, force: true })
  }
  const ended = once(child, "close").then(() => Promise.reject(new Error("The platform ended at its start.")))
  ended.catch(() => undefined) // It ends at the end of the benchmark, too.
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended])
  const ready = JSON.parse(String(line)) as Ready // the line that the platform prints

  let token: string | undefined
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${ready.api}/v1/${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text) as Answer // the contract of the API
  }
  const until = async (path: string, holds: (answer: Answer) => boolean) => {
    while (!holds(await call("GET", path))) await new Promise((resume) => setTimeout(resume, pause))
  }

  const [provider] = ready.providers
  if (provider === undefined) throw new Error("The platform has no development provider.")
  const id_token = await signInAt(provider.issuer, `${ready.console}/sign-in/callback`, "ada@example.com")
  token = (await call("POST", "auth/exchange", { provider: provider.id, id_token })).access_token

  const sleeper = async (name: string): Promise<Sleeper> => {
    const { branch, endpoint, project } = await call("POST", "projects", { name })
    const at = `projects/${project.id}`
    await until(`${at}/branches/${branch.id}`, (answer) => answer.branch.current_state === "ready")
    const minted = await call("POST", `${at}/branches/${branch.id}/credentials`, { access: "read_write" })
    const suspend = async () => {
      await call("POST", `${at}/endpoints/${endpoint.id}/suspend`)
      await until(
        `${at}/endpoints/${endpoint.id}`,
        (answer) => answer.endpoint.current_state === "idle" && answer.endpoint.pending_state === null
      )
    }
    return { uri: minted.connection_uri, cluster: join(data, "computes/branches", branch.id), suspend }
  }
  return { sleeper, stop }
}
