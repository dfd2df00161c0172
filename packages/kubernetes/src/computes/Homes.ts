/**
 * The namespaces of branches. A copy is in the namespace of its parent, because snapshots and claims do not leave theirs.
 *
 * With a namespace for each organization, the driver makes it when the organization gets its first branch, and gives the
 * runner its rights there. A pod of CloudNativePG may read some objects of all clusters in its namespace.
 */
import { ComputeTenant } from "@narthex/core"
import { Effect, Schema } from "effect"
import type { ApiClient } from "../api/ApiClient.ts"
import { isAlreadyThere } from "../api/ApiFailure.ts"
import type { Chosen } from "../objects/KubernetesOptions.ts"
import {
  bindingManifest,
  computesRole,
  namespaceManifest,
  policyManifest,
  policyName
} from "../objects/namespaceManifests.ts"
import { namespaces, networkPolicies, roleBindings } from "../objects/resources.ts"
import { refused } from "./failures.ts"

const Identity = Schema.Struct({
  status: Schema.Struct({ userInfo: Schema.Struct({ username: Schema.String }) })
})

export const branchHomes = (client: ApiClient, options: Chosen, ownNamespace: string | undefined) => {
  const isolate = (namespace: string) =>
    client.apply(networkPolicies, namespace, policyName, policyManifest(options, namespace, ownNamespace))

  /** The name by which the API server knows this process. */
  const user = Effect.map(
    client.review(
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      Identity
    ),
    ({ status }) => status.userInfo.username
  )

  const open = Effect.fnUntraced(function* (namespace: string, organization: string) {
    yield* Effect.catchIf(
      client.create(namespaces, null, namespaceManifest(options, namespace, organization)),
      isAlreadyThere,
      () => Effect.void
    )
    yield* client.apply(roleBindings, namespace, computesRole, bindingManifest(options, namespace, yield* user))
    yield* isolate(namespace)
    return namespace
  })

  const opened = new Set<string>()

  /** The namespace of a new branch without a parent. */
  const home = Effect.gen(function* () {
    if (!options.per_organization) return options.namespace
    const organization = yield* ComputeTenant
    if (organization === null) return yield* refused("The branch belongs to no organization.")
    const namespace = `${options.namespace}-${organization}`
    if (!opened.has(namespace)) yield* open(namespace, organization)
    opened.add(namespace)
    return namespace
  })

  return { home, isolate }
}

export type BranchHomes = ReturnType<typeof branchHomes>
