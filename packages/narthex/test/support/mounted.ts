/** A control plane, and a server of Node that a host mounts it on. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type ControlPlane, type ControlPlaneOptions, createControlPlane } from "../../src/index.ts"

export type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void

/** Serves with a listener while the work runs; `work` gets the port. */
export const listening = async (listener: Listener, work: (port: number) => Promise<void>) => {
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address = server.address()
  await work(typeof address === "object" ? (address?.port ?? 0) : 0).finally(() => {
    server.close()
    server.closeAllConnections()
  })
}

export const withControlPlane = async (options: ControlPlaneOptions, work: (cp: ControlPlane) => Promise<void>) => {
  await using cp = await createControlPlane({ log: "off", ...options })
  await work(cp)
}
