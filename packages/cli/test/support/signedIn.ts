/** A control plane, a home directory, and a command line that is signed in to Ada's organization Acme. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import type { Client, ControlPlaneOptions } from "narthex"
import { planeWithPeople } from "./onControlPlane.ts"
import { runNarthex, type Setting } from "./runNarthex.ts"

/** Ada in her organization Acme. Nothing is stored on her machine. */
export const inAcme = Effect.fnUntraced(function* (options: ControlPlaneOptions = {}) {
  const { home, plane, signIn } = yield* planeWithPeople({ regions: ["eu"], ...options })
  const ada = yield* Effect.promise(() => signIn("ada", "Ada"))
  /** A new organization of Ada's, with a client of hers in it. */
  const found = async (name: string) => {
    const { organization } = await ada.client.orgs.create({ name })
    const session = await ada.client.auth.switchOrg({ org_id: organization.id })
    return { ...organization, client: plane.product.client({ access_token: session.access_token }) }
  }
  const acme = yield* Effect.promise(() => found("Acme"))
  const addKey = async (name = "ci", client: Client = acme.client) => {
    const { api_key, secret } = await client.apiKeys.create({ name })
    return { id: api_key.id, name, secret: secret ?? "" }
  }
  /** Calls the API as the console does when the user clicks Authorize. */
  const authorize = async (address: string, client: Client = acme.client) => {
    const {
      code_challenge = "",
      name = "",
      redirect_uri = "",
      state = ""
    } = Object.fromEntries(new URL(address).searchParams)
    const { code } = await client.cli.authorize({ code_challenge, name, redirect_uri, state })
    const back = new URL(redirect_uri)
    back.searchParams.set("code", code)
    back.searchParams.set("state", state)
    return back
  }
  /** The keys of Acme that are not revoked. */
  const keys = Effect.promise(async () => (await acme.client.apiKeys.list({})).api_keys)
  return {
    acme,
    addKey,
    authorize,
    client: acme.client,
    found,
    home,
    keys,
    plane,
    signIn,
    file: join(home, ".config", "narthex", "credentials.json")
  }
})

export const signedInOn = Effect.fnUntraced(function* (options: ControlPlaneOptions) {
  const world = yield* inAcme(options)
  const { addKey, client, file, home, plane } = world
  const setting: Setting = {
    home,
    variables: { NARTHEX_URL: plane.url, NARTHEX_CONSOLE_URL: "http://console.test" }
  }
  const login = (context: string, of: Client = client) =>
    Effect.gen(function* () {
      const key = yield* Effect.promise(() => addKey(`cli ${context}`, of))
      yield* runNarthex(["login", "--with-token", "--context", context], { ...setting, stdin: key.secret })
      return key
    })
  const key = yield* login("default")
  plane.requests.length = 0
  return {
    ...world,
    key,
    login,
    setting,
    stored: () => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined),
    run: (args: ReadonlyArray<string>, more: Partial<Setting> = {}) => runNarthex(args, { ...setting, ...more })
  }
})

export const signedIn = signedInOn({})

/** The same, with a project `shop`. */
export const withShop = Effect.fnUntraced(function* (options: ControlPlaneOptions = {}) {
  const world = yield* signedInOn(options)
  const made = yield* Effect.promise(() => world.client.projects.create({ name: "shop" }))
  const [operation] = made.operations
  if (operation === undefined || made.endpoint === null) return yield* Effect.die("a project begins with an endpoint")
  return { ...world, ...made, operation, endpoint: made.endpoint, shop: made.project.id }
})
