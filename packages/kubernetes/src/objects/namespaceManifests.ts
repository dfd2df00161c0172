/** Manifests of a namespace with computes. Pure. */
import type { Chosen } from "./KubernetesOptions.ts"
import { label } from "./names.ts"

/** The role that an operator defines for the runner, and that the driver binds in the namespaces which it makes. */
export const computesRole = "narthex-computes"

const labelsOf = ({ installation }: Chosen) => ({ [label.manager]: "narthex", [label.installation]: installation })

export const namespaceManifest = (options: Chosen, name: string, organization: string) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: {
    name,
    labels: {
      ...labelsOf(options),
      [label.organization]: organization,
      "pod-security.kubernetes.io/enforce": "restricted"
    }
  }
})

/** Gives the runner its rights in a namespace. `user` is its name, as the API server knows it. */
export const bindingManifest = (options: Chosen, namespace: string, user: string) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "RoleBinding",
  metadata: { name: computesRole, namespace, labels: labelsOf(options) },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: computesRole },
  subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }]
})

export const policyName = "narthex-computes"

const inNamespace = (name: string) => ({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": name } } })
const network = (cidr: string) => ({ ipBlock: { cidr } })
const tcp = (port: number) => ({ protocol: "TCP", port })

/**
 * Admits runners and proxies to Postgres, and the operator to Postgres and to the status of instances. Lets instances out
 * to DNS, and to the API server, which each of them asks for its cluster.
 */
export const policyManifest = (options: Chosen, namespace: string, ownNamespace: string | undefined) => {
  const platform = options.platform_namespace ?? ownNamespace
  const clients = [
    ...(platform === undefined ? [] : [inNamespace(platform)]),
    ...options.platform_networks.map(network)
  ]
  const operator = [inNamespace(options.operator_namespace)]
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: policyName, namespace, labels: labelsOf(options) },
    spec: {
      podSelector: {},
      policyTypes: ["Ingress", "Egress"],
      ingress: [
        ...(clients.length === 0 ? [] : [{ from: clients, ports: [tcp(5432)] }]),
        { from: operator, ports: [tcp(8000), tcp(5432)] }
      ],
      egress: [
        {
          to: [inNamespace("kube-system")],
          ports: [tcp(53), { protocol: "UDP", port: 53 }]
        },
        { to: options.api_networks.map(network), ports: [tcp(443), tcp(6443)] }
      ]
    }
  }
}
