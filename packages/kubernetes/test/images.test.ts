/** The major version of a branch decides about its parameters (docs/design/kubernetes.md K4). */
import { assert, describe, it } from "@effect/vitest"
import { chosen, clusterManifest, KubernetesOptions } from "@narthex/kubernetes"
import { Schema } from "effect"

const required = { storage_class: "fast", snapshot_class: "fast" }

const parametersOf = (options: object) => {
  const origin = { is: "empty" } as const
  const made = { namespace: "computes", branch: "br-1", data: 1, fence: 0, origin, size: null }
  return clusterManifest(chosen({ ...required, ...options }), made).spec.postgresql.parameters
}

const digest = `@sha256:${"0123456789abcdef".repeat(4)}`

describe("images of branches", () => {
  it("a version is that of the tag, also behind a registry with a port and before a digest", () => {
    const images = ["postgres:17", "registry.example.com:5000/postgres:17.2-1", `postgres:17-standard${digest}`]
    for (const image of images) {
      const parameters = parametersOf({ image })
      assert.property(parameters, "max_notify_queue_pages", image)
      assert.notProperty(parameters, "io_method", image)
    }
    assert.property(parametersOf({ catalog: { kind: "ImageCatalog", name: "all", major: 18 } }), "io_method")
    assert.notProperty(parametersOf({ image: "postgres:15" }), "reserved_connections")
  })

  it("an image whose tag says no version is refused", () => {
    const isRead = (image: string) => Schema.is(KubernetesOptions)({ ...required, image })
    for (const image of ["postgres", "postgres:latest", `postgres${digest}`, "registry.example.com:5000/postgres"])
      assert.isFalse(isRead(image), image)
    assert.isTrue(isRead(`registry.example.com:5000/postgres:18.1-trixie${digest}`))
  })
})
