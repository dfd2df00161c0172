/** API servers on one database, each in its own process and restarted after it was killed. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Readable, Writable } from "node:stream"
import { within } from "../../harness/eventually.ts"
import { program } from "../../harness/programs.ts"

/** How it serves the API: by the server of the package, or by the handler that hosts mount (`cp.node`). */
export type ProcessServing = "server" | "node"

export interface ApiOptions {
  /** Default: `server`. */
  readonly serving?: ProcessServing
  readonly ring?: number
  readonly heartbeat_ms?: number
  readonly jwt_ms?: number
  /** Whether it has the admin port too. */
  readonly admin?: boolean
}

/** A command to a running process. */
export type Command =
  /** The clock of the process stands at this time from now on. */
  | { readonly stand: number }
  /** Wakes now what would wake within this many milliseconds. */
  | { readonly wake: number }

export class ApiProcess {
  /** 0 while it is not up. */
  port = 0
  admin = 0
  readonly #args: string
  #child: ChildProcessByStdio<Writable, Readable, Readable> | undefined
  #said: AsyncIterator<string> | undefined

  constructor(url: string, options: ApiOptions) {
    this.#args = JSON.stringify({ ...options, url })
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [await program("api-process"), this.#args], {
      stdio: ["pipe", "pipe", "pipe"]
    })
    this.#child = child
    let complaint = ""
    child.stderr.on("data", (chunk) => {
      complaint = `${complaint}${chunk}`.slice(-2_000)
    })
    // The process may be killed while a command is on its way.
    child.stdin.on("error", () => {})
    this.#said = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const up = await within("an API process to listen", this.#said.next())
    if (up.done === true) {
      if (child.exitCode === null && child.signalCode === null)
        await within("the end of an API process that closed its output", once(child, "exit"))
      if (child.signalCode !== "SIGKILL") throw new Error(`An API process did not start: ${complaint}`)
      return
    }
    const { admin, port }: { readonly admin: number; readonly port: number } = JSON.parse(up.value)
    this.admin = admin
    this.port = port
  }

  /** Resolves when it has obeyed. One command at a time. */
  async tell(command: Command): Promise<void> {
    const text = JSON.stringify(command)
    if (this.#child === undefined || this.#said === undefined) throw new Error("The API process was not started.")
    this.#child.stdin.write(`${text}\n`)
    const answer = await within(`an API process to obey ${text}`, this.#said.next())
    if (answer.done === true) throw new Error("An API process ended instead of obeying.")
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.port = 0
    await this.#end("SIGKILL")
  }

  /** It drains first. Answers its exit code. */
  async stop(): Promise<number | null> {
    return this.#end("SIGTERM")
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    if (child === undefined) return null
    if (child.exitCode === null && child.signalCode === null) {
      const gone = once(child, "exit")
      child.kill(signal)
      await within("the end of an API process", gone)
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

/** Signs a person in; returns the token, the person and the organization. */
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
