/**
 * The client that loads a group of the contract with its first call (docs/design/client.md L29). The schemas of all
 * groups take longer to make than the rest of a short program, such as a command, takes to run.
 */
import { Effect } from "effect"
import type { HttpClient } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { withSharedRules } from "../rules/sharedRules.ts"
import type { ApiCalls } from "./ApiCalls.ts"
import { type AnyCall, type ClientSettings, type MakeCall, makeClient, type NarthexCalls } from "./makeClient.ts"

/** Where each group of the contract is. */
export const groupLoaders: { readonly [Group in keyof ApiCalls]: () => Promise<HttpApiGroup.Constraint> } = {
  auth: async () => (await import("../groups/AuthApi.ts")).AuthApi,
  apiKeys: async () => (await import("../groups/ApiKeysApi.ts")).ApiKeysApi,
  credentials: async () => (await import("../groups/ApiKeysApi.ts")).CredentialsApi,
  cli: async () => (await import("../groups/CliLoginApi.ts")).CliLoginApi,
  regions: async () => (await import("../groups/RegionsApi.ts")).RegionsApi,
  projects: async () => (await import("../groups/ProjectsApi.ts")).ProjectsApi,
  branches: async () => (await import("../groups/BranchesApi.ts")).BranchesApi,
  sandboxes: async () => (await import("../groups/SandboxesApi.ts")).SandboxesApi,
  endpoints: async () => (await import("../groups/EndpointsApi.ts")).EndpointsApi,
  operations: async () => (await import("../groups/OperationsApi.ts")).OperationsApi,
  ipAllow: async () => (await import("../groups/IpAllowlistApi.ts")).IpAllowlistApi,
  orgs: async () => (await import("../groups/OrganizationsApi.ts")).OrganizationsApi,
  invitations: async () => (await import("../groups/InvitationsApi.ts")).InvitationsApi,
  ownInvitations: async () => (await import("../groups/OwnInvitationsApi.ts")).OwnInvitationsApi,
  events: async () => (await import("../groups/EventsApi.ts")).EventsApi,
  proxy: async () => (await import("../groups/ProxyApi.ts")).ProxyApi,
  service: async () => (await import("../groups/ServiceApi.ts")).ServiceApi
}

/** The contract with one group. */
export const loadContract = async (load: () => Promise<HttpApiGroup.Constraint>) =>
  withSharedRules(HttpApi.make("narthex").add(await load()))

/** The calls of a group. Names are looked up when they are read, because the group is not loaded yet. */
const callsOfGroup = (make: MakeCall, group: string, load: () => Promise<HttpApiGroup.Constraint>): object => {
  let loading: ReturnType<typeof loadContract> | undefined
  const contract = Effect.promise(() => {
    loading ??= loadContract(load)
    return loading
  })
  const calls: Record<string, AnyCall> = {}
  const callNamed = (name: string): AnyCall => {
    let call: AnyCall | undefined
    return (request) =>
      Effect.flatMap(contract, (found) => {
        call ??= make(found, group, name)
        return call(request)
      })
  }
  return new Proxy(calls, {
    get: (_, name) => {
      if (typeof name !== "string") return undefined
      calls[name] ??= callNamed(name)
      return calls[name]
    }
  })
}

const callsOf = (make: MakeCall): ApiCalls =>
  // The names are those of `groupLoaders`, whose type is derived from the contract.
  Object.fromEntries(
    Object.entries(groupLoaders).map(([group, load]) => [group, callsOfGroup(make, group, load)])
  ) as unknown as ApiCalls

export const makeLoadingClient = (
  settings: ClientSettings
): Effect.Effect<NarthexCalls, never, HttpClient.HttpClient> => makeClient(settings, callsOf)
