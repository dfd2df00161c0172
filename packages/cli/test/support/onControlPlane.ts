/** The command line against a real control plane in this process: the whole API, in memory, on a socket. */
import { Effect } from "effect"
import type { ControlPlaneOptions } from "narthex"
import { HostedPlane } from "../../../../test/support/HostedPlane.ts"
import { freshHome, runNarthex, type Setting } from "./runNarthex.ts"

/** The address of every client, as the control plane sees it. */
export const clientAddress = "198.51.100.7"

/** A control plane on which people sign in. */
export const planeWithPeople = Effect.fnUntraced(function* (options: ControlPlaneOptions = {}) {
  const plane = yield* HostedPlane.make({ clientAddress: () => clientAddress, ...options })
  const signIn = async (subject: string, name = subject) => {
    const email = `${subject}@example.com`
    const person = await plane.product.people.ensure({ subject, email, email_verified: true, name })
    const session = await plane.product.sessions.start(person)
    return { person, session, client: plane.product.client(session) }
  }
  return { plane, url: plane.url, home: yield* freshHome, signIn }
})

/** Ada, with a key of her personal organization. `asPerson` runs a command with her session instead. */
export const onControlPlaneWith = Effect.fnUntraced(function* (options: ControlPlaneOptions) {
  const { home, plane, signIn, url } = yield* planeWithPeople(options)
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

export const onControlPlane = onControlPlaneWith({})
