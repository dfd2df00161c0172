/** The language server of the TypeScript compiler, which shows a program as an editor does. */
import { spawn } from "node:child_process"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { within } from "../harness/eventually.ts"

const root = resolve(import.meta.dirname, "../..")

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
}

/** The answer to a hover, as far as it is read. */
interface Hover {
  readonly contents?: { readonly value?: string }
}

export class LanguageServer implements AsyncDisposable {
  private readonly server = spawn(resolve(root, "node_modules/.bin/tsc"), ["--lsp", "--stdio"], {
    cwd: root,
    stdio: ["pipe", "pipe", "ignore"]
  })
  private readonly answers = new Map<number, (result: unknown) => void>()
  private received = Buffer.alloc(0)
  private lastId = 0

  private constructor() {
    this.server.stdout.on("data", (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes])
      for (let message = this.next(); message !== undefined; message = this.next()) this.read(message)
    })
  }

  static async start(): Promise<LanguageServer> {
    const server = new LanguageServer()
    const capabilities = { textDocument: { hover: { contentFormat: ["markdown"] } } }
    await server.ask("initialize", { processId: process.pid, rootUri: pathToFileURL(root).href, capabilities })
    server.send({ method: "initialized", params: {} })
    return server
  }

  private next(): Message | undefined {
    const end = this.received.indexOf("\r\n\r\n")
    const length = Number(/Content-Length: (\d+)/i.exec(this.received.toString("utf8", 0, Math.max(end, 0)))?.[1])
    if (end < 0 || this.received.length < end + 4 + length) return undefined
    const body = this.received.toString("utf8", end + 4, end + 4 + length)
    this.received = this.received.subarray(end + 4 + length)
    return JSON.parse(body)
  }

  private read({ id, method, result }: Message) {
    if (id === undefined) return
    if (method === undefined) this.answers.get(id)?.(result)
    // A request of the server to an editor, such as to watch files.
    else this.send({ id, result: null })
  }

  private send(message: object) {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message })
    this.server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  private ask(method: string, params: object): Promise<unknown> {
    this.lastId += 1
    const id = this.lastId
    const answer = new Promise<unknown>((resolve) => this.answers.set(id, resolve))
    this.send({ id, method, params })
    return within(`the answer to ${method}`, answer)
  }

  /** The text that an editor shows for the last name of each line. `file`, from the root, need not exist. */
  async hovers(file: string, lines: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    const uri = pathToFileURL(resolve(root, file)).href
    const text = lines.join("\n")
    this.send({
      method: "textDocument/didOpen",
      params: { textDocument: { uri, languageId: "typescript", version: 1, text } }
    })
    const shown: Array<string> = []
    for (const [line, code] of lines.entries()) {
      const position = { line, character: code.search(/\w+\W*$/) }
      // The answer has the form of the protocol.
      const hover = (await this.ask("textDocument/hover", { textDocument: { uri }, position })) as Hover | null
      shown.push(hover?.contents?.value ?? "")
    }
    return shown
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.server.once("exit", resolve))
    this.server.kill()
    await within("the end of the language server", ended)
  }
}
