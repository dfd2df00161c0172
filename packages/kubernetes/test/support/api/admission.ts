/**
 * The checks of the API server before it stores an object: the published schemas, where members that they do not know
 * count as mistakes, and the rules of the operator's webhook.
 */
import { Cluster } from "@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Cluster"
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy"
import { RoleBinding } from "kubernetes-models/rbac.authorization.k8s.io/v1/RoleBinding"
import { Namespace } from "kubernetes-models/v1/Namespace"
import { badRequest, invalid } from "./ApiFailure.ts"
import { at, type Fields, fieldsAt, isFields, isSame, listAt, numberAt, textAt } from "./json.ts"
import { apiVersionOf, clusters, type Resource, snapshots } from "./resources.ts"
import { unknownMembers, type Validate } from "./unknownMembers.ts"

export interface Admission {
  /** Fails as the server answers. `former`: the object before, if there is one. */
  readonly check: (resource: Resource, next: Fields, former: Fields | undefined) => void
}

const schemas: Readonly<Record<string, Validate>> = {
  Cluster: Cluster.prototype.validate,
  NetworkPolicy: NetworkPolicy.prototype.validate,
  RoleBinding: RoleBinding.prototype.validate,
  Namespace: Namespace.prototype.validate
}

/** Parameters that the operator sets itself, and parameters that it never takes. */
const fixedParameters = [
  ...[
    "archive_mode",
    "archive_command",
    "cluster_name",
    "full_page_writes",
    "port",
    "ssl",
    "ssl_ca_file",
    "ssl_cert_file"
  ],
  ...["ssl_key_file", "shared_preload_libraries", "synchronous_standby_names", "unix_socket_directories"],
  ...["hot_standby", "listen_addresses", "unix_socket_group", "unix_socket_permissions", "restart_after_crash"],
  ...["logging_collector", "log_destination", "log_directory", "log_filename", "log_file_mode", "log_rotation_age"],
  ...["log_rotation_size", "log_truncate_on_rotation", "hba_file", "ident_file", "data_directory", "config_file"],
  ...["external_pid_file", "primary_conninfo", "primary_slot_name", "restore_command", "recovery_target_timeline"],
  ...["stats_temp_directory", "syslog_facility", "syslog_ident", "bonjour", "bonjour_name", "allow_alter_system"]
]

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/

const metadataMistake = (object: Fields, namespaced: boolean): string | undefined => {
  const metadata = fieldsAt(object, "metadata")
  const name = textAt(metadata, "name") || `${textAt(metadata, "generateName")}x`
  if (!subdomain.test(name) || name.length > 253) return `metadata.name: Invalid value: "${name}"`
  for (const kind of ["labels", "annotations"] as const)
    for (const [key, value] of Object.entries(fieldsAt(metadata, kind))) {
      const [prefix, last = key] = key.includes("/") ? key.split("/") : [undefined, key]
      if (prefix !== undefined && !subdomain.test(prefix)) return `metadata.${kind}: Invalid value: "${key}"`
      if (last.length > 63 || !labelValue.test(last) || last === "") return `metadata.${kind}: Invalid value: "${key}"`
      if (typeof value !== "string") return `metadata.${kind}.${key}: must be of type string`
      if (kind === "labels" && (value.length > 63 || !labelValue.test(value)))
        return `metadata.labels: Invalid value: "${value}"`
    }
  return namespaced && "namespace" in metadata && !label.test(textAt(metadata, "namespace"))
    ? "metadata.namespace: Invalid value"
    : undefined
}

const clusterMistake = (next: Fields, former: Fields | undefined): string | undefined => {
  const spec = fieldsAt(next, "spec")
  const name = textAt(next, "metadata", "name")
  if (name.length > 50 || !label.test(name)) return `metadata.name: Invalid value: "${name}": the maximum length is 50`
  if ((numberAt(spec, "instances") ?? 1) < 1) return "spec.instances: should be greater than or equal to 1"
  const fixed = Object.keys(fieldsAt(spec, "postgresql", "parameters")).find((it) => fixedParameters.includes(it))
  if (fixed !== undefined) return `spec.postgresql.parameters.${fixed}: Can't set fixed configuration parameter`
  const bootstrap = Object.keys(fieldsAt(spec, "bootstrap"))
  if (bootstrap.length > 1) return "spec.bootstrap: Only one bootstrap method can be specified at a time"
  const disabled = listAt(spec, "managed", "services", "disabledDefaultServices")
  if (disabled.includes("rw")) return "spec.managed.services.disabledDefaultServices: rw cannot be disabled"
  if ("imageName" in spec && "imageCatalogRef" in spec) return "spec.imageName: excludes imageCatalogRef"
  const image = textAt(spec, "imageName")
  if (image !== "" && !/[:@][^/]+$/.test(image)) return "spec.imageName: an image without a version"
  if (textAt(spec, "storage", "size") === "" && !("pvcTemplate" in fieldsAt(spec, "storage")))
    return "spec.storage.size: required"
  if (former === undefined) return undefined
  if (!isSame(at(former, "spec", "storage", "storageClass"), at(spec, "storage", "storageClass")))
    return "spec.storage.storageClass: Field is immutable"
  return undefined
}

const snapshotMistake = (next: Fields, former: Fields | undefined): string | undefined => {
  const spec = fieldsAt(next, "spec")
  const source = fieldsAt(spec, "source")
  const known = ["persistentVolumeClaimName", "volumeSnapshotContentName"]
  if (Object.keys(source).length !== 1 || !known.includes(Object.keys(source)[0] ?? ""))
    return "spec.source: exactly one of persistentVolumeClaimName and volumeSnapshotContentName is required"
  const other = Object.keys(spec).find((it) => it !== "source" && it !== "volumeSnapshotClassName")
  if (other !== undefined) return `spec.${other}: unknown field`
  if (former !== undefined && !isSame(source, at(former, "spec", "source"))) return "spec.source: is immutable"
  return undefined
}

export const admission: Admission = {
  check: (resource, next, former) => {
    const name = textAt(next, "metadata", "name")
    const version = textAt(next, "apiVersion")
    if (version !== "" && version !== apiVersionOf(resource))
      throw badRequest(`the API version in the data (${version}) does not match the expected ${apiVersionOf(resource)}`)
    const validate = schemas[resource.kind]
    if (validate !== undefined) {
      const { status: _, ...rest } = next
      const object = { ...rest, apiVersion: apiVersionOf(resource), kind: resource.kind }
      const unknown = unknownIn(resource, object, validate)
      if (unknown.length > 0) throw badRequest(`strict decoding error: unknown field "${unknown.join('", "')}"`)
    }
    const mistake =
      metadataMistake(next, resource.namespaced) ??
      (resource === clusters ? clusterMistake(next, former) : undefined) ??
      (resource === snapshots ? snapshotMistake(next, former) : undefined)
    if (mistake !== undefined) throw invalid(resource, name, mistake)
  }
}

const unknownIn = (resource: Resource, object: Fields, validate: Validate): ReadonlyArray<string> => {
  try {
    return unknownMembers(object, validate)
  } catch (cause) {
    if (!(cause instanceof Error) || !isFields(object)) throw cause
    throw invalid(resource, textAt(object, "metadata", "name"), cause.message)
  }
}
