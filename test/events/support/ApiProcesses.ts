/** API servers of one database, each a process of its own, started again after they were killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"

export interface ApiOptions {
  readonly ring?: number
  readonly heartbeat_ms?: number
  readonly jwt_ms?: number
}

const script = join(import.meta.dirname, "apiProcess.ts")

export class ApiProcess {
  /** 0 while it is not up. */
  port = 0
  readonly #args: string
  #child: ChildProcess | undefined

  constructor(url: string, options: ApiOptions, admin = 0) {
    this.#args = JSON.stringify({ ...options, url, admin })
  }

  /** Done when it listens. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, ["--conditions=source", script, this.#args], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#child = child
    let complaint = ""
    child.stderr.on("data", (chunk) => {
      complaint = `${complaint}${chunk}`.slice(-2_000)
    })
    const lines = createInterface({ input: child.stdout })
    const up = await Promise.race([once(lines, "line"), once(child, "exit").then(() => undefined)])
    if (up === undefined) {
      if (child.signalCode !== "SIGKILL") throw new Error(`An API process did not start: ${complaint}`)
      return
    }
    this.port = Number(JSON.parse(String(up[0])).port)
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.port = 0
    await this.#end("SIGKILL")
  }

  /** Told to stop, it drains first. Answers its exit code. */
  async stop(): Promise<number | null> {
    return this.#end("SIGTERM")
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    if (child === undefined) return null
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit")
      child.kill(signal)
      await gone
    }
    return child.exitCode
  }
}

/** One call as JSON. */
export const call = async (
  port: number,
  method: string,
  path: string,
  { body, token }: { readonly token?: string; readonly body?: unknown } = {}
) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  // Bodies are read member by member by tests that assert on each.
  const answer = text === "" ? undefined : JSON.parse(text)
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return { status: response.status, headers: response.headers, body: answer }
}

let salt = 0

/** Signs somebody in: the token, and who and where that is. */
export const signIn = async (port: number, email: string) => {
  salt += 1
  const { body } = await call(port, "POST", "/v1/auth/exchange", {
    body: { id_token: `email:${email}:${process.pid}-${salt}` }
  })
  return {
    token: String(body.access_token),
    org: String(body.organization.id),
    user: String(body.user.id)
  }
}
