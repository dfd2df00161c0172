/** The rights of the files in `deploy/kubernetes` are those that the driver checks: docs/design/kubernetes.md K21, K22. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { parseAllDocuments } from "yaml"
import { rightsOf } from "../src/computes/preflight.ts"

const Role = Schema.Struct({
  kind: Schema.Literal("ClusterRole"),
  metadata: Schema.Struct({ name: Schema.String }),
  rules: Schema.Array(
    Schema.Struct({
      apiGroups: Schema.Array(Schema.String),
      resources: Schema.Array(Schema.String),
      verbs: Schema.Array(Schema.String)
    })
  )
})

/** Each right of a role of a file, as `<role> <group>/<resource> <verb>`. */
const granted = (file: string) =>
  parseAllDocuments(readFileSync(join(import.meta.dirname, "../../../deploy/kubernetes", file), "utf8"))
    .map((document): unknown => document.toJS())
    .filter(Schema.is(Role))
    .flatMap(({ metadata, rules }) =>
      rules.flatMap(({ apiGroups, resources, verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) => verbs.map((verb) => `${metadata.name} ${group}/${resource} ${verb}`))
        )
      )
    )

const checked = (per_organization: boolean) =>
  rightsOf({ namespace: "narthex-computes", per_organization }).flatMap(({ group, resource, verbs }) =>
    verbs.map((verb) => `${group}/${resource} ${verb}`)
  )

const ofRole = (file: string, role: string) =>
  granted(file).flatMap((right) => (right.startsWith(`${role} `) ? [right.slice(role.length + 1)] : []))

describe("the rights of the runners' account", () => {
  it("in a namespace of computes they are those that the driver checks, and no more", () => {
    const isElsewhere = (right: string) => right === "/namespaces get"
    assert.sameMembers(
      ofRole("rights.yaml", "narthex-computes"),
      checked(false).filter((right) => !isElsewhere(right))
    )
    assert.includeMembers(ofRole("rights.yaml", "narthex-runner"), checked(false).filter(isElsewhere))
  })

  it("with a namespace for each organization they are those that the driver checks, and the binding of one role", () => {
    assert.sameMembers(ofRole("per-organization.yaml", "narthex-organizations"), [
      ...checked(true),
      ...["rolebindings create", "rolebindings patch", "clusterroles bind"].map(
        (right) => `rbac.authorization.k8s.io/${right}`
      )
    ])
  })

  it("no account may do anything with nodes, or read the secrets of other namespaces", () => {
    const everywhere = [
      ...ofRole("rights.yaml", "narthex-runner"),
      ...ofRole("per-organization.yaml", "narthex-organizations")
    ]
    assert.deepStrictEqual(
      everywhere.filter((right) => /nodes|secrets/.test(right)),
      []
    )
  })
})
