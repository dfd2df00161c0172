/** The paths that say what a server has: its version, groups and resources. */
import type { Fields } from "./json.ts"
import { allResources, type Resource } from "./resources.ts"

const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

const resourceList = (groupVersion: string, served: ReadonlyArray<Resource>): Fields => ({
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion,
  resources: served.flatMap(({ kind, namespaced, plural, status }) => [
    { name: plural, singularName: "", namespaced, kind, verbs },
    ...(status
      ? [{ name: `${plural}/status`, singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] }]
      : [])
  ])
})

const groupOf = (name: string): Fields => ({
  name,
  versions: [{ groupVersion: `${name}/v1`, version: "v1" }],
  preferredVersion: { groupVersion: `${name}/v1`, version: "v1" }
})

export const discovered = (path: string, isServed: (resource: Resource) => boolean): Fields | undefined => {
  const served = allResources.filter(isServed)
  const groups = [...new Set(served.map(({ group }) => group))].filter((group) => group !== "")
  if (path === "/version") return { major: "1", minor: "35", gitVersion: "v1.35.4", platform: "linux/amd64" }
  if (path === "/api") return { kind: "APIVersions", versions: ["v1"] }
  if (path === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(groupOf) }
  if (path === "/api/v1")
    return resourceList(
      "v1",
      served.filter(({ group }) => group === "")
    )
  const [, name, version] = /^\/apis\/([^/]+)(?:\/(v1))?$/.exec(path) ?? []
  if (name === undefined || !groups.includes(name)) return undefined
  if (version === undefined) return { kind: "APIGroup", apiVersion: "v1", ...groupOf(name) }
  return resourceList(
    `${name}/v1`,
    served.filter(({ group }) => group === name)
  )
}
