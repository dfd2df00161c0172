/** A start checks its listeners before it uses the store, and says which setting moves the one that fails. */
import { once } from "node:events"
import { createServer } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { settleAddresses } from "../src/addresses.ts"
import { checkListeners, listenersOf } from "../src/listeners.ts"
import { load } from "./settings/environment.ts"

/** A port of this host that is in use until the test ends. */
const takenPort = (host = "127.0.0.1", reusePort = false) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const server = createServer()
        await once(server.listen({ host, port: 0, reusePort }), "listening")
        return server
      }),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    }
  )

const free = {
  NARTHEX_API_PORT: "0",
  NARTHEX_CONSOLE_PORT: "0",
  NARTHEX_PROXY_PORT: "0",
  NARTHEX_ADMIN_PORT: "0",
  NARTHEX_DEV_PROVIDER_PORTS: "0,0"
}

const check = (environment: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const settings = yield* load({ ...free, ...environment }, true)
    const addresses = yield* settleAddresses(settings)
    yield* checkListeners(listenersOf(addresses, settings, ["api", "console", "proxy", "admin"]))
  })

const reason = (environment: Readonly<Record<string, string>>) => Effect.map(Effect.flip(check(environment)), String)

describe("the listeners of a start", () => {
  it.live("free ports are no failure, and are free again after the check", () => Effect.andThen(check({}), check({})))

  const listeners = [
    ["The API", "NARTHEX_API_PORT"],
    ["The console", "NARTHEX_CONSOLE_PORT"],
    ["The Postgres proxy", "NARTHEX_PROXY_PORT"],
    ["The admin port", "NARTHEX_ADMIN_PORT"]
  ] as const
  it.live.each(listeners)("%s whose port is in use is named, with its address and %s", ([name, variable]) =>
    Effect.gen(function* () {
      const port = yield* takenPort()
      assert.include(
        yield* reason({ [variable]: String(port) }),
        `${name} cannot listen on 127.0.0.1:${port}: the port is in use. Stop the process that uses it, or set ${variable} to another port.`
      )
    })
  )

  it.live("a development provider whose port is in use is named", () =>
    Effect.gen(function* () {
      const port = yield* takenPort()
      const said = yield* reason({ NARTHEX_DEV_PROVIDER_PORTS: `0,${port}` })
      assert.include(said, `A development provider cannot listen on 127.0.0.1:${port}`)
      assert.include(said, "NARTHEX_DEV_PROVIDER_PORTS")
    })
  )

  it.live("an address that this machine does not have names the variable of the host", () =>
    Effect.gen(function* () {
      const elsewhere = { NARTHEX_ADMIN_HOST: "192.0.2.1", NARTHEX_ADMIN_PORT: "4409" }
      assert.include(
        yield* reason(elsewhere),
        "The admin port cannot listen on 192.0.2.1:4409: this machine does not have the address. Set NARTHEX_ADMIN_HOST"
      )
    })
  )

  it.live("a proxy of several processes takes a port that processes of an earlier one still share", () =>
    Effect.gen(function* () {
      const port = String(yield* takenPort("127.0.0.1", true))
      yield* check({ NARTHEX_PROXY_PORT: port, NARTHEX_PROXY_PROCESSES: "2" })
      assert.include(yield* reason({ NARTHEX_PROXY_PORT: port }), "NARTHEX_PROXY_PORT")
    })
  )
})
