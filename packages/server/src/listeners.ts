/**
 * Whether a process can listen where its settings say. A start checks this before it uses the store: otherwise a port
 * that is taken is noticed only after a database has been initialized and migrated.
 *
 * The check reserves nothing. If another process takes a port after it, the listener itself fails.
 */
import { createServer } from "node:net"
import { Effect, Schema } from "effect"
import { type Addresses, hostPort } from "./addresses.ts"
import type { Listener, Settings } from "./settings/Settings.ts"
import { variables } from "./settings/variables.ts"

/** A listener of a process, with the variables that move it. */
export interface Wanted extends Listener {
  /** The listener, as the subject of a sentence. */
  readonly name: string
  readonly variables: { readonly host?: string; readonly port: string }
  /** Whether processes of one platform share the port. */
  readonly shared?: boolean
}

/** A process cannot listen at an address of its settings. */
export class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

type Name = "api" | "console" | "proxy" | "admin"

const names: Readonly<Record<Name, string>> = {
  api: "The API",
  console: "The console",
  proxy: "The Postgres proxy",
  admin: "The admin port"
}

/** The listeners of these names, and the development providers if the process runs them. */
export const listenersOf = (
  { dev_providers, ...addresses }: Addresses,
  { proxy }: Pick<Settings, "proxy">,
  of: ReadonlyArray<Name>
): ReadonlyArray<Wanted> => [
  ...of.map((name) => ({
    ...addresses[name],
    name: names[name],
    variables: { host: variables[name].host.name, port: variables[name].port.name },
    shared: name === "proxy" && proxy.processes !== 1
  })),
  ...(dev_providers ?? []).map((port) => ({
    host: "127.0.0.1",
    port,
    name: "A development provider",
    variables: { port: variables.dev_providers.ports.name }
  }))
]

/** Why the listener fails, and what to do, after "…: ". */
const reasonOf = (code: string | undefined, { host, port }: Wanted["variables"]): string => {
  switch (code) {
    case "EADDRINUSE":
      return `the port is in use. Stop the process that uses it, or set ${port} to another port.`
    case "EACCES":
      return `this process may not use the port. Set ${port} to a port from 1024 on, or give the process the right.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `this machine does not have the address. Set ${host ?? port} to another one.`
    default:
      return `${code ?? "the reason is unknown"}. Set ${[host, port].filter((it) => it !== undefined).join(" or ")} to another one.`
  }
}

/** Listens until the scope closes, so that two listeners of one process cannot have the same port either. */
const probe = (wanted: Wanted) =>
  Effect.acquireRelease(
    Effect.callback<() => void, CannotListen>((resume) => {
      const { host, name, port, shared = false } = wanted
      const server = createServer((socket) => socket.destroy())
      server.once("error", ({ code }: NodeJS.ErrnoException) => {
        const reason = `${name} cannot listen on ${hostPort({ host, port })}: ${reasonOf(code, wanted.variables)}`
        resume(Effect.fail(new CannotListen({ reason })))
      })
      server.listen({ host, port, reusePort: shared }, () => resume(Effect.succeed(() => void server.close())))
    }),
    (close) => Effect.sync(close)
  )

/** Fails with the first listener that cannot have its address. */
export const checkListeners = (wanted: ReadonlyArray<Wanted>): Effect.Effect<void, CannotListen> =>
  Effect.scoped(Effect.forEach(wanted, probe, { discard: true }))
