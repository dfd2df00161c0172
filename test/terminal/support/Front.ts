/** A TCP proxy between a client and the platform, whose connections the test cuts, and whose target it moves. */
import { once } from "node:events"
import { connect, createServer, type Server, type Socket } from "node:net"

export class Front {
  readonly url: string
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #target: string

  private constructor(server: Server, target: string) {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("The front has no port.")
    this.url = `http://127.0.0.1:${address.port}`
    this.#server = server
    this.#target = target
    server.on("connection", (client) => this.#relay(client))
  }

  static async to(target: string): Promise<Front> {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return new Front(server, target)
  }

  /** Connections from now on go to this address. */
  moveTo(target: string): void {
    this.#target = target
  }

  /** Ends every connection with a reset, as a router that has lost its table. Returns how many there were. */
  cut(): number {
    const cut = [...this.#open]
    for (const socket of cut) socket.resetAndDestroy()
    return cut.length
  }

  async close(): Promise<void> {
    this.cut()
    await once(this.#server.close(), "close")
  }

  #relay(client: Socket): void {
    const { hostname, port } = new URL(this.#target)
    const server = connect(Number(port), hostname)
    for (const [socket, other] of [
      [client, server],
      [server, client]
    ] as const) {
      this.#open.add(socket)
      socket.on("error", () => undefined) // its end says the same
      socket.on("close", () => {
        this.#open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }
}
