/**
 * Checks a Kubernetes cluster before the first call. Everything that is missing is one sentence for the operator, and all
 * sentences are reported together.
 */
import { Effect, Option, Schema } from "effect"
import { type KubernetesUnusable, KubernetesUnusable as Unusable, unusable } from "../access/KubernetesUnusable.ts"
import type { ApiClient } from "../api/ApiClient.ts"
import type { Chosen } from "../objects/KubernetesOptions.ts"
import { cnpgRoot, namespaces, snapshotClasses, snapshotRoot, storageClasses } from "../objects/resources.ts"

interface Right {
  readonly verbs: ReadonlyArray<string>
  readonly group: string
  readonly resource: string
  /** `null`: in all namespaces, or of a kind that has none. */
  readonly namespace: string | null
}

/** The rights that the driver uses. In namespaces that it makes itself it has those that it binds there. */
export const rightsOf = ({ namespace, per_organization }: Pick<Chosen, "namespace" | "per_organization">) => {
  const read = ["get", "list", "watch"]
  const change = per_organization ? [] : ["create", "delete"]
  const place = per_organization ? null : namespace
  const cnpg = "postgresql.cnpg.io"
  const right = (resource: string, group: string, verbs: ReadonlyArray<string>, of: string | null = place): Right => ({
    verbs,
    group,
    resource,
    namespace: of
  })
  return [
    right("clusters", cnpg, [...read, ...change, ...(per_organization ? [] : ["patch"])]),
    right("volumesnapshots", "snapshot.storage.k8s.io", [...read, ...change]),
    right("pods", "", ["list", "watch"]),
    ...(per_organization
      ? [right("namespaces", "", ["create"], null)]
      : [
          right("secrets", "", ["get"]),
          right("networkpolicies", "networking.k8s.io", ["create", "patch"]),
          right("namespaces", "", ["get"], namespace)
        ])
  ]
}

const Review = Schema.Struct({ status: Schema.Struct({ allowed: Schema.Boolean }) })

/** As one would ask `kubectl auth can-i`. */
const inWords = (verb: string, { group, namespace, resource }: Right) => {
  const name = group === "" ? resource : `${resource}.${group}`
  return `kubectl auth can-i ${verb} ${name}${namespace === null ? " --all-namespaces" : ` --namespace ${namespace}`}`
}

/** The sentence, unless the condition holds. */
const unless = (holds: boolean, sentence: string) => (holds ? [] : [sentence])

export const preflight = Effect.fn("preflight")(function* (
  client: ApiClient,
  options: Chosen
): Effect.fn.Return<void, KubernetesUnusable> {
  const { namespace, per_organization, snapshot_class, storage_class } = options
  const problems = Effect.gen(function* () {
    const hasOperator = yield* client.offers(cnpgRoot)
    const hasSnapshots = yield* client.offers(snapshotRoot)
    const found = [
      ...unless(hasOperator, "The operator CloudNativePG is not installed: the API postgresql.cnpg.io/v1 is missing."),
      ...unless(hasSnapshots, "Volume snapshots are not installed: the API snapshot.storage.k8s.io/v1 is missing.")
    ]
    const storage = Option.getOrUndefined(yield* client.get(storageClasses, null, storage_class))
    const snapshot = hasSnapshots
      ? Option.getOrUndefined(yield* client.get(snapshotClasses, null, snapshot_class))
      : undefined
    found.push(
      ...unless(storage !== undefined, `There is no storage class ${storage_class}.`),
      ...unless(snapshot !== undefined || !hasSnapshots, `There is no volume snapshot class ${snapshot_class}.`),
      ...unless(
        storage === undefined || snapshot === undefined || storage.provisioner === snapshot.driver,
        `The snapshot class ${snapshot_class} is of the driver ${snapshot?.driver}, and the storage class ${storage_class} of ${storage?.provisioner}: such volumes cannot be copied.`
      ),
      ...unless(
        (storage?.reclaimPolicy ?? "Delete") === "Delete",
        `The storage class ${storage_class} has the reclaim policy ${storage?.reclaimPolicy}: the data of deleted branches would be kept. It has to be Delete.`
      )
    )
    for (const right of rightsOf(options)) {
      for (const verb of right.verbs) {
        const { group, namespace: of, resource } = right
        const review = yield* client.review(
          "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
          {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectAccessReview",
            spec: { resourceAttributes: { verb, group, resource, ...(of === null ? {} : { namespace: of }) } }
          },
          Review
        )
        found.push(...unless(review.status.allowed, `A right is missing: "${inWords(verb, right)}" says no.`))
      }
    }
    if (found.length === 0 && !per_organization) {
      const isThere = Option.isSome(yield* client.get(namespaces, null, namespace))
      found.push(...unless(isThere, `There is no namespace ${namespace}.`))
    }
    return found
  })
  const found = yield* Effect.mapError(problems, ({ message }) => unusable(message))
  if (found.length > 0) return yield* new Unusable({ problems: found })
})
