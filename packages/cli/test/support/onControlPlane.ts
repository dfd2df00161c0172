/** The command line against a real control plane in this process: the whole API, in memory, on a socket. */
import { createServer } from "node:http"
import { Effect } from "effect"
import { createControlPlane } from "narthex"
import { freshHome, runNarthex, type Setting } from "./runNarthex.ts"

const listening = Effect.acquireRelease(
  Effect.promise(async () => {
    const plane = await createControlPlane({ log: "off", limits: null, grace: 0 })
    const server = createServer(plane.node)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("The server has no port.")
    return { plane, server, url: `http://127.0.0.1:${address.port}` }
  }),
  ({ plane, server }) =>
    Effect.promise(async () => {
      server.closeAllConnections()
      server.close()
      await plane.close()
    })
)

/** Ada, with a key of her personal organization. `asPerson` runs a command with her session instead. */
export const onControlPlane = Effect.gen(function* () {
  const { plane, url } = yield* listening
  const home = yield* freshHome
  const signIn = async (subject: string) => {
    const email = `${subject}@example.com`
    const person = await plane.people.ensure({ subject, email, email_verified: true, name: subject })
    const session = await plane.sessions.start(person)
    return { person, session, client: plane.client(session) }
  }
  const ada = yield* Effect.promise(() => signIn("ada"))
  const key = yield* Effect.promise(() => ada.client.apiKeys.create({ name: "cli" }))
  if (key.secret === null) return yield* Effect.die("the key has no secret")
  const running =
    (credential: string) =>
    (args: ReadonlyArray<string>, more: Partial<Setting> = {}) =>
      runNarthex(args, {
        home,
        ...more,
        variables: { NARTHEX_URL: url, NARTHEX_API_KEY: credential, ...more.variables }
      })
  return {
    plane,
    url,
    home,
    key,
    signIn,
    client: ada.client,
    run: running(key.secret),
    asPerson: running(ada.session.access_token),
    with: running
  }
})
