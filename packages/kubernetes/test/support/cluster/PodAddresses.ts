/**
 * Addresses of pods on loopback: a network of its own for each double, so that several run on a machine. The lowest free
 * address is given first, because a cluster gives the address of a pod that has gone to another.
 */
import { createServer, type Server } from "node:net"

const port = 5432
/** The address that holds the network for this process. */
const holder = 254

export class PodAddresses {
  readonly #network: string
  readonly #held: Server
  readonly #taken = new Set<number>()

  private constructor(network: string, held: Server) {
    this.#network = network
    this.#held = held
  }

  static async open(): Promise<PodAddresses> {
    let refusal = ""
    for (let attempt = 0; attempt < 50; attempt++) {
      const network = `127.${100 + Math.floor(Math.random() * 100)}.${Math.floor(Math.random() * 256)}`
      const held = await listening(`${network}.${holder}`)
      if (typeof held !== "string") return new PodAddresses(network, held)
      refusal = held
    }
    throw new Error(
      `No network on loopback is free for pods. Does a server have port ${port} at all addresses? ${refusal}`
    )
  }

  take(): string {
    let host = 1
    while (this.#taken.has(host)) host++
    if (host >= holder) throw new Error("Every address of this double has a pod.")
    this.#taken.add(host)
    return `${this.#network}.${host}`
  }

  give(address: string): void {
    this.#taken.delete(Number(address.split(".")[3]))
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held.close(() => resolve())
    await promise
  }
}

/** A listener on the port, or the code of the error. */
const listening = (host: string): Promise<Server | string> => {
  const { promise, resolve } = Promise.withResolvers<Server | string>()
  const server = createServer((socket) => void socket.destroy())
  server.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? cause.message))
  server.listen(port, host, () => resolve(server))
  return promise
}
