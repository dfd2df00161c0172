/** The API that the console calls: a control plane in memory, whose people sign in at the development providers. */
import { DevProviders } from "@narthex/dev-providers"
import { Context, Effect, Layer, Predicate } from "effect"
import type { Client, ControlPlaneOptions } from "narthex"
import { type Asked, HostedPlane, problem } from "../../../../test/support/HostedPlane.ts"

export const consoleToken = "console-token-of-the-tests"
const proxyToken = "proxy-token-of-the-tests"

/** A person with an account, and a client that acts in `org`. */
export interface Someone {
  readonly id: string
  readonly email: string
  /** Their personal organization. */
  readonly personal: string
  readonly org: string
  readonly token: string
  readonly client: Client
}

export interface Refused {
  readonly endpoint_id: string
  readonly address: string
  readonly count?: number
  readonly reason?: string
  readonly role?: string
  /** How long ago. */
  readonly minutes?: number
}

/** The address that the console reports; of any other caller the listener's. */
const clientAddress = ({ headers }: Request) =>
  headers.get("narthex-console") === consoleToken ? headers.get("narthex-client-address") : "192.0.2.250"

export class Api extends Context.Service<Api, ReturnType<typeof apiOn>>()("test/Api") {
  static readonly layer = (options: ControlPlaneOptions = {}) =>
    Layer.effect(
      Api,
      Effect.gen(function* () {
        const { providers } = yield* DevProviders
        const regions = ["eu-north", "us-west"]
        return apiOn(yield* HostedPlane.make({ identity: providers, clientAddress, regions, proxyToken, ...options }))
      })
    )
}

const apiOn = (plane: HostedPlane) => {
  const { product } = plane

  /** The same person in another organization. */
  const moved = async (someone: Someone, org: string): Promise<Someone> => {
    const { access_token: token } = await product.client(someone.token).auth.switchOrg({ org_id: org })
    return { ...someone, org, token, client: product.client(token) }
  }

  const person = async (email: string, name: string | null = null): Promise<Someone> => {
    const { id, personal_org_id } = await product.people.ensure({ subject: email, email, email_verified: true, name })
    const { access_token: token, organization } = await product.sessions.start(id)
    return { id, email, personal: personal_org_id, org: organization.id, token, client: product.client(token) }
  }

  /** A new team of the person's, who acts in it. */
  const team = async (founder: Someone, name: string) => {
    const { organization } = await founder.client.orgs.create({ name })
    return moved(founder, organization.id)
  }

  /** Invites the person, who accepts, into the founder's team. */
  const join = async ({ client, org }: Someone, someone: Someone, role: string) => {
    const { invitation } = await client.invitations.invite({ org_id: org, email: someone.email, role: "member" })
    await someone.client.ownInvitations.accept({ invitation_id: invitation.id })
    if (role !== "member") await client.orgs.changeMember({ org_id: org, user_id: someone.id, role })
    return moved(someone, org)
  }

  /** A project whose operations have ended. */
  const project = async ({ client }: Someone, name: string, region = "eu-north") => {
    const { branch, endpoint, operations, project } = await client.projects.create({ name, region })
    for (const operation of operations) await product.operations.waitFor(operation)
    return { id: project.id, branch_id: branch.id, endpoint_id: endpoint?.id ?? "" }
  }

  let sequence = 0
  /** Reports refused clients as a proxy does, the last one first. */
  const refuse = (...clients: ReadonlyArray<Refused>) => {
    sequence += 1
    const refusals = clients.map(({ minutes = 0, ...it }, at) => {
      const age = minutes * 60_000 + at * 10
      return { count: 1, reason: "address_not_listed", first_ms: age, last_ms: age, ...it }
    })
    return product.client(proxyToken).proxy.refusals({ proxy_id: "proxy-1", sequence, refusals })
  }

  /** From now on every account is pending, until `instead` is set again. No call of the API enables one. */
  const pend = () => {
    plane.instead = async (asked) => {
      if (asked.path.startsWith("/v1/invitations")) return undefined
      if (!asked.path.startsWith("/v1/auth/")) return problem("alpha_pending")
      const answer = await plane.ask(asked)
      const { ok, status } = answer
      return ok && status !== 204
        ? Response.json({ ...(await answer.json()), account_state: "pending" }, { status })
        : answer
    }
  }

  /** From now on each object in answers is read as this function returns it, until `instead` is set again. */
  const reading = (change: (it: Readonly<Record<string, unknown>>) => unknown) => {
    plane.instead = async (asked) => {
      const answer = await plane.ask(asked)
      const isJson = answer.headers.get("content-type")?.startsWith("application/json")
      if (!isJson) return answer
      const body = JSON.parse(await answer.text(), (_, it) => (Predicate.isReadonlyObject(it) ? change(it) : it))
      return Response.json(body, { status: answer.status })
    }
  }

  const last = (method: string, path: string): Asked | undefined =>
    plane.requests.findLast((asked) => asked.method === method && asked.path === path)

  return {
    plane,
    product,
    person,
    moved,
    team,
    join,
    project,
    refuse,
    pend,
    reading,
    last,
    /** The body of the last call of this method and path. */
    sent: (method: string, path: string): unknown => {
      const body = last(method, path)?.body
      return body === undefined || body === "" ? undefined : JSON.parse(body)
    },
    /** A project of an organization of another person. */
    foreign: async (name: string) => project(await person("stranger@elsewhere.example"), name)
  }
}
