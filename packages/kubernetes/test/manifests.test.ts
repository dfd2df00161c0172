/** Manifests fit the published schemas, whatever an operator chooses (docs/design/kubernetes.md K4, K20, K26). */
import { assert, describe, it } from "@effect/vitest"
import { smallSize } from "@narthex/core/testing"
import {
  bindingManifest,
  chosen,
  clusterManifest,
  type KubernetesOptions,
  namespaceManifest,
  policyManifest,
  snapshotManifest
} from "@narthex/kubernetes"
import type { ClusterObject } from "../src/objects/resources.ts"
import { admission } from "./support/api/admission.ts"
import { type Fields, isFields, type Json } from "./support/api/json.ts"
import {
  clusters,
  namespaces,
  networkPolicies,
  type Resource,
  roleBindings,
  snapshots
} from "./support/api/resources.ts"

const required = { storage_class: "fast", snapshot_class: "fast" }

const choices: Readonly<Record<string, KubernetesOptions>> = {
  "the defaults": required,
  "a catalog of images": { ...required, catalog: { kind: "ClusterImageCatalog", name: "postgres", major: 18 } },
  "an image of a registry with a port": { ...required, image: "registry.example.com:5000/postgres:17.2-1" },
  "requests without limits": { ...required, resources: { requests: { memory: "1Gi" } } },
  "networks and namespaces": {
    ...required,
    platform_namespace: "narthex",
    operator_namespace: "operators",
    platform_networks: ["10.0.0.0/8"],
    api_networks: ["10.96.0.1/32"]
  }
}

/** As it is sent. */
const asJson = (manifest: object): Fields => {
  const parsed: Json = JSON.parse(JSON.stringify(manifest))
  return isFields(parsed) ? parsed : {}
}

const namespace = "computes"
const branch = "br-quiet-moon-01hzz3v8k2m4n6p8q0r2s4t6v8"

const parent: ClusterObject = {
  metadata: { name: "br-parent-1", namespace, uid: "1", resourceVersion: "1" },
  spec: { imageName: "postgres:17", storage: { size: "20Gi" } }
}

describe("manifests of computes on Kubernetes", () => {
  for (const [of, options] of Object.entries(choices))
    it(`manifests with ${of} are accepted`, () => {
      const all = chosen(options)
      const made = { namespace, branch, data: 12, fence: 3, size: smallSize }
      const manifests: ReadonlyArray<readonly [Resource, object]> = [
        [clusters, clusterManifest(all, { ...made, origin: { is: "empty" } })],
        [clusters, clusterManifest(all, { ...made, origin: { is: "copy", snapshot: `${branch}-12`, parent } })],
        [snapshots, snapshotManifest(all, { name: `${branch}-12`, namespace, branch, claim: "br-parent-1-1" })],
        [namespaces, namespaceManifest(all, "computes-org-a", "org-a")],
        [networkPolicies, policyManifest(all, namespace, "narthex")],
        [networkPolicies, policyManifest(all, namespace, undefined)],
        [roleBindings, bindingManifest(all, namespace, "system:serviceaccount:narthex:runner")]
      ]
      for (const [resource, manifest] of manifests) admission.check(resource, asJson(manifest), undefined)
    })

  it("a size is written in the shortest form, in whole KiB, beside the other resources of the operator", () => {
    const options = chosen({
      ...required,
      resources: { requests: { cpu: "9", "ephemeral-storage": "1Gi" }, limits: { memory: "9Gi" } }
    })
    const written = (cpus: number, memory_bytes: number) => {
      const size = { name: "any", cpus, memory_bytes, disk_bytes: 1 }
      const made = { namespace, branch, data: 1, fence: 0, origin: { is: "empty" }, size } as const
      return clusterManifest(options, made).spec.resources
    }
    assert.deepStrictEqual(written(0.5, 1536 * 1024 ** 2), {
      requests: { cpu: "500m", memory: "1536Mi", "ephemeral-storage": "1Gi" },
      limits: { cpu: "500m", memory: "1536Mi" }
    })
    assert.deepInclude(written(2, 4 * 1024 ** 3), { limits: { cpu: "2", memory: "4Gi" } })
    assert.deepInclude(written(0.25, 500_000_000), { limits: { cpu: "250m", memory: "488281Ki" } })
  })

  it("a copy has the image and the size of its parent", () => {
    const origin = { is: "copy", snapshot: "s", parent } as const
    const { spec } = clusterManifest(chosen(required), { namespace, branch, data: 1, fence: 0, origin, size: null })
    assert.deepInclude(spec, { imageName: "postgres:17" })
    assert.strictEqual(spec.storage.size, "20Gi")
  })

  it("sessions without TLS, of other databases and of the unused role are refused by the server", () => {
    const origin = { is: "empty" } as const
    const { spec } = clusterManifest(chosen(required), { namespace, branch, data: 1, fence: 0, origin, size: null })
    const rules = spec.postgresql.pg_hba
    assert.strictEqual(rules.at(-1), "host all all all reject")
    assert.isTrue(rules.every((rule) => rule.startsWith("hostssl ") || rule.endsWith(" reject")))
  })
})
