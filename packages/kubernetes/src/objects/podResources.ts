/** The resources of pods: CPU and memory of the size of an endpoint, or else those that the operator chose. Pure. */
import type { EndpointSize } from "@narthex/core"
import type { Chosen } from "./KubernetesOptions.ts"
import type { ClusterObject } from "./resources.ts"

const units = ["Ki", "Mi", "Gi", "Ti"]

/**
 * Memory in whole KiB.
 *
 * Pitfall: another spelling of the same quantity. The API server and the operator write the shortest, and `hasSize` compares
 * texts.
 */
const memoryOf = (bytes: number): string => {
  let [count, unit] = [Math.floor(bytes / 1024), 0]
  while (count % 1024 === 0 && unit < units.length - 1) [count, unit] = [count / 1024, unit + 1]
  return `${count}${units[unit]}`
}

const cpuOf = (cpus: number): string => {
  const thousandths = Math.round(cpus * 1000)
  return thousandths % 1000 === 0 ? `${thousandths / 1000}` : `${thousandths}m`
}

const quantitiesOf = ({ cpus, memory_bytes }: EndpointSize) => ({ cpu: cpuOf(cpus), memory: memoryOf(memory_bytes) })

/** A size requests what it limits, so a node never promises more than it has. */
export const resourcesOf = ({ resources }: Pick<Chosen, "resources">, size: EndpointSize | null) => {
  if (size === null) return resources
  const own = quantitiesOf(size)
  return { requests: { ...resources.requests, ...own }, limits: { ...resources.limits, ...own } }
}

/** Whether the pods of a cluster have this size. */
export const hasSize = ({ resources }: Pick<ClusterObject["spec"], "resources">, size: EndpointSize): boolean => {
  const own = quantitiesOf(size)
  return [resources?.requests, resources?.limits].every((it) => it?.["cpu"] === own.cpu && it["memory"] === own.memory)
}
