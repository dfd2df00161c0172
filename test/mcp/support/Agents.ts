/** People, keys and clients of agents on the shared platform. */
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createClient } from "@narthex/api"
import { SharedPlatform } from "../../support/SharedPlatform.ts"
import { signInAt } from "../../support/signInAt.ts"
import { baseEnvironment, emptyDirectory, ownAccount, programs } from "../../support/surroundings.ts"

/** The result of a tool as tests read it. */
export interface Told {
  readonly isError: boolean
  /** The text that the model reads. */
  readonly text: string
  /** `data` of the structured content. */
  readonly data: Readonly<Record<string, unknown>>
}

export interface Agent {
  readonly client: Client
  readonly call: (tool: string, given?: Record<string, unknown>) => Promise<Told>
  /** The data of a call that succeeds. */
  readonly asked: <A = Readonly<Record<string, unknown>>>(tool: string, given?: Record<string, unknown>) => Promise<A>
}

export class Agents {
  readonly platform: SharedPlatform
  /** A client of the API with the owner's session. */
  readonly owner: ReturnType<typeof createClient>
  /** The access token of that session. */
  readonly session: string
  readonly #opened: Array<Client> = []
  readonly #directory = emptyDirectory(ownAccount)

  private constructor(platform: SharedPlatform, session: string) {
    this.platform = platform
    this.session = session
    this.owner = createClient({ baseUrl: platform.ready.api, credential: session })
  }

  /** A person of its own, by a domain of its own. */
  static async of(domain: string): Promise<Agents> {
    const platform = await SharedPlatform.get()
    const { api, console: web, providers } = platform.ready
    const id_token = await signInAt(providers[0]?.issuer ?? "", `${web}/sign-in/callback`, `ada@${domain}`)
    const session = await createClient({ baseUrl: api }).auth.exchange({ id_token })
    return new Agents(platform, session.access_token)
  }

  get api(): string {
    return this.platform.ready.api
  }

  async project(name: string) {
    const { project } = await this.owner.projects.create({ name })
    return project
  }

  async key(name: string, capability: "agent" | "read" | "read_write" = "agent"): Promise<string> {
    const { secret } = await this.owner.apiKeys.create({ name, capability })
    assert.isNotNull(secret)
    return secret ?? ""
  }

  async #connected(transport: Transport): Promise<Agent> {
    const client = new Client({ name: "test", version: "1.0.0" })
    await client.connect(transport)
    this.#opened.push(client)
    const call = async (tool: string, given: Record<string, unknown> = {}): Promise<Told> => {
      const result = await client.callTool({ name: tool, arguments: given }, { timeout: 120_000 })
      const parts = Array.isArray(result.content) ? result.content : []
      const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("\n")
      const structured = result.structuredContent
      const data =
        typeof structured === "object" && structured !== null && "data" in structured ? structured.data : undefined
      return { isError: result.isError === true, text, data: Object(data) }
    }
    const asked = async <A>(tool: string, given: Record<string, unknown> = {}): Promise<A> => {
      const told = await call(tool, given)
      assert.isFalse(told.isError, `${tool}: ${told.text}`)
      return told.data as A // The shape is the test's claim.
    }
    return { client, call, asked }
  }

  /** An agent at `/mcp`. */
  http(secret: string, headers: Readonly<Record<string, string>> = {}): Promise<Agent> {
    return this.#connected(
      new StreamableHTTPClientTransport(new URL(`${this.api}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${secret}`, ...headers } }
      })
    )
  }

  /** An agent that runs `narthex mcp`. */
  stdio(secret: string, args: ReadonlyArray<string> = []): Promise<Agent> {
    return this.#connected(
      new StdioClientTransport({
        command: process.execPath,
        args: [programs.cli, "mcp", ...args],
        env: {
          ...baseEnvironment(),
          HOME: join(this.#directory.path, "home"),
          NARTHEX_URL: this.api,
          NARTHEX_API_KEY: secret
        }
      })
    )
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((client) => client.close()))
    this.#directory.remove()
  }
}
