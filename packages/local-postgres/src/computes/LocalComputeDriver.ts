/**
 * `ComputeDriver` on this machine: one Postgres cluster per branch, one postmaster for all endpoints of the branch.
 *
 *     computes/branches/<branch id>/       a cluster (`Cluster`) with the data of the branch
 *     sockets/<endpoint id>.<generation>   a link to its socket: the address of a compute
 *
 * `NARTHEX_COMPUTE_DIR` is another place for `computes`. All state is on disk and in the process table, so a process
 * that starts after a crash finds it. An endpoint runs when its link exists and the postmaster behind it is alive. The
 * link is created after the roles are applied and removed first when the endpoint stops, so a stale address leads
 * nowhere. A start whose list the cluster was sealed with (`RoleSeal`) has nothing to apply.
 *
 * Pitfall: keeping the links of an earlier postmaster. They would lead to the new one, so they are removed before it
 * starts.
 * Pitfall: ending sessions with their address. While other endpoints of the branch run, stopping one removes its
 * address only; its sessions are for the relay to end.
 */
import { mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { needsRoles } from "@narthex/compute-roles"
import {
  type BranchId,
  ComputeDriver,
  type ComputeRole,
  type ComputeStart,
  ComputeTenant,
  type EndpointId
} from "@narthex/core"
import { Effect, Layer, Option } from "effect"
import { superuserOn } from "../cluster/asSupervisor.ts"
import { type Cluster, clusterAt, majorOf } from "../cluster/Cluster.ts"
import { copyRunning } from "../cluster/ClusterBackup.ts"
import { copyStopped } from "../cluster/ClusterCopy.ts"
import { hasData, putData, removeData, sweepData } from "../cluster/ClusterData.ts"
import { clusterTemplate } from "../cluster/ClusterTemplate.ts"
import { findPostmaster, startPostgres, stopPostgres } from "../cluster/PostgresProcess.ts"
import { openSocketLinks } from "../cluster/SocketLinks.ts"
import { hasSecret } from "../cluster/SupervisorSecret.ts"
import { ComputeSlice, openSlices, raiseLimits, sliceOf, withSize } from "../machine/computeSlices.ts"
import { lockDirectory } from "../machine/DirectoryLock.ts"
import { attempt, ImpossibleRequest, type LocalPostgresFailure } from "../machine/LocalPostgresError.ts"
import { findMachine, type LocalPostgresOptions, openDataDirectory } from "../machine/Machine.ts"
import { awaitDirectory, type StandbyOptions } from "../machine/standby.ts"
import { asComputeFailed, type DriverFailure } from "./asComputeFailed.ts"
import { branchFences } from "./BranchFences.ts"
import { branchLocks } from "./BranchLocks.ts"
import { clusterOfBranch, dataOfBranch, isFileName } from "./branchData.ts"
import { type ComputeLimits, defaultComputeLimits } from "./ComputeLimits.ts"
import { computeLinks } from "./ComputeLinks.ts"
import { copyPlaces, diskRoom, hasReserve, spaceOf } from "./copyRoom.ts"
import { makeDiskUsage } from "./diskUsage.ts"
import { enforceRoles } from "./enforceRoles.ts"
import { examine, isSealed, seal } from "./RoleSeal.ts"
import { branchOf, runningComputes } from "./runningComputes.ts"

export interface LocalComputeOptions extends LocalPostgresOptions {
  readonly limits?: Partial<ComputeLimits> | undefined
  /** `NARTHEX_COMPUTE_DIR`: the directory of the clusters. Default: `computes` in the data directory. */
  readonly computeDir?: string | undefined
  /** `NARTHEX_CPU_GROUP`: the CPU control group of this process, which the driver divides. Default: none. */
  readonly cpuGroup?: string | undefined
}

/** Adopts the computes that an earlier process left running, starts none, and stops all when the scope closes. */
export const layer = (options: LocalComputeOptions): Layer.Layer<ComputeDriver, LocalPostgresFailure> =>
  Layer.effect(ComputeDriver, make(options))

/** As `layer`, but while another process holds the directory, waits for it as a standby. */
export const layerStandby = (
  options: LocalComputeOptions & StandbyOptions
): Layer.Layer<ComputeDriver, LocalPostgresFailure> => Layer.effect(ComputeDriver, make(options, options))

const refuse = (reason: string) => Effect.fail(new ImpossibleRequest({ reason }))

const make = Effect.fn("LocalComputeDriver.make")(function* (options: LocalComputeOptions, standby?: StandbyOptions) {
  const limits = { ...defaultComputeLimits, ...options.limits }
  const dataDir = yield* openDataDirectory(options.dataDir)
  const computes =
    options.computeDir === undefined ? join(dataDir, "computes") : yield* openDataDirectory(options.computeDir)
  const branches = join(computes, "branches")
  yield* attempt(`Making ${branches}`, () => mkdir(branches, { recursive: true, mode: 0o700 }))
  yield* standby === undefined ? lockDirectory(computes) : awaitDirectory(computes, standby)
  const allClusters = attempt(`Listing ${branches}`, async () =>
    (await readdir(branches)).map((branch) => clusterAt(join(branches, branch), "compute"))
  )
  const versions = yield* Effect.forEach(yield* allClusters, (cluster) => Effect.option(majorOf(cluster.data)))
  const machine = yield* findMachine(options, versions.flatMap(Option.toArray)[0])
  const slices = options.cpuGroup === undefined ? undefined : yield* openSlices(options.cpuGroup)
  const links = computeLinks(yield* openSocketLinks(dataDir))
  const locked = branchLocks()
  const diskUsageOf = makeDiskUsage()
  const { confirm, fenced } = branchFences(limits.takeover_within)
  const inPlace = copyPlaces(limits.copies_per_parent)
  const disk = { space: spaceOf(branches), reserve: limits.disk_reserve, share: limits.disk_share }
  const withRoom = diskRoom(disk)
  const settled = dataOfBranch(branches, machine)

  const clusterOf = clusterOfBranch(branches)

  const isRunning = (cluster: Cluster) => Effect.map(findPostmaster(cluster), Option.isSome)

  const stopAll = (cluster: Cluster) =>
    Effect.andThen(Effect.flatMap(links.to(cluster), links.remove), stopPostgres(cluster))

  /** Stops the postmaster when no endpoint has a link to it. */
  const stopUnlinked = Effect.fnUntraced(function* (cluster: Cluster) {
    if ((yield* links.to(cluster)).length === 0) yield* stopPostgres(cluster)
  })

  /** The list that this process applied last to a branch, and whether it also ran `prepareAccess` on its data. */
  const applied = new Map<BranchId, { readonly roles: ComputeStart["roles"]; readonly prepared: boolean }>()

  /** As `stopUnlinked`, and seals the cluster if its roles are still those that were applied. */
  const suspendUnlinked = Effect.fnUntraced(function* (cluster: Cluster) {
    const last = applied.get(branchOf(cluster))
    if (last?.prepared !== true || !(yield* isRunning(cluster))) return yield* stopUnlinked(cluster)
    if ((yield* links.to(cluster)).length > 0) return
    const next = yield* examine(cluster, last.roles, limits.seal_patience)
    yield* stopPostgres(cluster)
    if (Option.isSome(next)) yield* seal(cluster, last.roles, next.value)
  })

  /**
   * Copies the parent's data to a branch, if `wanted` says so. A running parent is not locked,
   * so its endpoints can start and stop; a stop fails the backup, and the operation is retried. A stopped one must not start.
   */
  const copyFromParent = Effect.fnUntraced(function* (
    branch: BranchId,
    parent: BranchId,
    wanted: (cluster: Cluster) => Effect.Effect<boolean, LocalPostgresFailure>
  ) {
    const target = yield* clusterOf(branch)
    const source = yield* clusterOf(parent)
    if (branch === parent) return yield* refuse(`Branch ${branch} cannot be a copy of itself.`)
    const put = (copy: (making: string, size: number) => Effect.Effect<void, LocalPostgresFailure>) =>
      Effect.gen(function* () {
        if (!(yield* hasData(source))) return yield* refuse(`The parent branch ${parent} has no data.`)
        const replace = Effect.fnUntraced(function* (size: number) {
          if (!(yield* wanted(target))) return
          applied.delete(branch)
          yield* putData(target, (making) => settled(target, making, copy(making, size)), confirm(branch))
        })
        yield* withRoom(source.data, replace)
      })
    const backUp = (copy: string, size: number) =>
      copyRunning({ source, copy, user: machine.user, slot: size > limits.copied_without_slot })
    const fromRunning = inPlace(parent, put(backUp))
    const fromFiles = put((making) => copyStopped(source.data, making))
    if (yield* locked([parent], isRunning(source))) return yield* locked([branch], fromRunning)
    const either = Effect.flatMap(isRunning(source), (running) => (running ? fromRunning : fromFiles))
    yield* locked([branch, parent], either)
  })

  const enforce = Effect.fnUntraced(function* (cluster: Cluster, roles: ComputeStart["roles"], prepares: boolean) {
    const branch = branchOf(cluster)
    const isKept = (former: ComputeRole) =>
      roles.some(({ access, role }) => role === former.role && access === former.access)
    const former = applied.get(branch)
    const mayRevoke = !(former?.roles.every(isKept) ?? false)
    applied.delete(branch)
    const means = { confirm: confirm(branch), machine, links, limits }
    yield* enforceRoles(means, cluster, { roles, mayRevoke, prepares })
    applied.set(branch, { roles, prepared: prepares || former?.prepared === true })
  })

  const createBranch = Effect.fn("LocalComputeDriver.createBranch")(function* (
    branch: BranchId,
    parent: Option.Option<BranchId>
  ) {
    const isMissing = (cluster: Cluster) => Effect.map(hasData(cluster), (exists) => !exists)
    if (Option.isSome(parent)) return yield* copyFromParent(branch, parent.value, isMissing)
    const cluster = yield* clusterOf(branch)
    const template = yield* clusterTemplate(dataDir, machine)
    const copy = Effect.gen(function* () {
      if (!(yield* isMissing(cluster))) return
      const put = putData(cluster, (making) => settled(cluster, making, copyStopped(template, making)), confirm(branch))
      yield* withRoom(template, () => put)
    })
    yield* locked([branch], copy)
  })

  const resetBranch = Effect.fn("LocalComputeDriver.resetBranch")((branch: BranchId, parent: BranchId) =>
    copyFromParent(branch, parent, (cluster) => Effect.as(stopAll(cluster), true))
  )

  const deleteBranch = Effect.fn("LocalComputeDriver.deleteBranch")(function* (branch: BranchId) {
    const cluster = yield* clusterOf(branch)
    const remove = Effect.gen(function* () {
      yield* stopAll(cluster)
      yield* confirm(branch)
      applied.delete(branch)
      yield* removeData(cluster)
    })
    yield* locked([branch], remove)
  })

  const stop = Effect.fn("LocalComputeDriver.stop")(function* (endpoint: EndpointId) {
    for (const link of yield* links.of(endpoint)) {
      const cluster = clusterAt(link.cluster, "compute")
      const branch = branchOf(cluster)
      const end = Effect.andThen(links.remove([link]), suspendUnlinked(cluster))
      yield* fenced(branch, locked([branch], end))
    }
  })

  const start = Effect.fn("LocalComputeDriver.start")(function* (wanted: ComputeStart) {
    const { branch_id, endpoint_id, generation, roles, size = null } = wanted
    const cluster = yield* clusterOf(branch_id)
    if (!isFileName(endpoint_id)) return yield* refuse(`${endpoint_id} cannot be part of a path.`)
    const elsewhere = (yield* links.of(endpoint_id)).some((it) => it.cluster !== cluster.directory)
    if (elsewhere) yield* stop(endpoint_id)
    const name = `${endpoint_id}.${generation}`
    const run = Effect.gen(function* () {
      // Compares the seal before the start, because the start changes what the seal is compared with.
      const state = [hasData(cluster), links.all, isRunning(cluster), isSealed(cluster, roles)] as const
      const [exists, all, runs, matches] = yield* Effect.all(state, { concurrency: state.length })
      if (!exists) return yield* refuse(`The branch ${branch_id} has no data.`)
      if (all.some((it) => it.endpoint === endpoint_id && it.generation > generation))
        return yield* refuse(`A later generation of ${endpoint_id} than ${generation} was started.`)
      if (runs) yield* raiseLimits(branch_id, size)
      else {
        yield* hasReserve(disk)
        yield* links.remove(all.filter((it) => it.cluster === cluster.directory))
      }
      yield* confirm(branch_id)
      yield* withSize(size)(startPostgres(cluster, machine))
      if (matches && !runs) applied.set(branch_id, { roles, prepared: true })
      else yield* enforce(cluster, roles, true)
      yield* confirm(branch_id)
      return { endpoint_id, branch_id, generation, address: yield* links.put(name, cluster) }
    })
    const replace = Effect.gen(function* () {
      const former = (yield* links.of(endpoint_id)).filter((it) => it.generation < generation)
      yield* links.remove(former)
      if (former.length > 0) yield* suspendUnlinked(cluster)
    })
    return yield* locked(
      [branch_id],
      Effect.onError(Effect.andThen(replace, run), () => Effect.ignore(stopUnlinked(cluster)))
    )
  })

  const applyRolesTo = Effect.fn("LocalComputeDriver.applyRoles")(function* (
    branch: BranchId,
    roles: ComputeStart["roles"]
  ) {
    const cluster = yield* clusterOf(branch)
    const apply = Effect.flatMap(isRunning(cluster), (runs) => (runs ? enforce(cluster, roles, false) : Effect.void))
    yield* locked([branch], apply)
  })

  const needsRolesAt = Effect.fn("LocalComputeDriver.needsRoles")(function* (
    branch: BranchId,
    roles: ComputeStart["roles"]
  ) {
    const cluster = yield* clusterOf(branch)
    if (!(yield* isRunning(cluster))) return false
    return yield* needsRoles(superuserOn(cluster), roles, limits.comparison_within)
  })

  const running = Effect.withSpan(runningComputes(links), "LocalComputeDriver.running")

  // Clean up after a crash: partial data, links to servers that died, servers without a link.
  const cleaned = Effect.fnUntraced(function* (cluster: Cluster) {
    yield* sweepData(cluster)
    // A server that an earlier version has started trusts this process's account, so it does not go on.
    const goesOn = (yield* isRunning(cluster)) && (yield* hasSecret(cluster))
    yield* goesOn ? stopUnlinked(cluster) : stopAll(cluster)
  })
  for (const cluster of yield* allClusters) yield* cleaned(cluster)
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(allClusters, (all) => Effect.forEach(all, stopAll, { concurrency: 8, discard: true })).pipe(
      Effect.catch((error) => Effect.logError("Some computes could not be stopped and are still running.", error))
    )
  )

  const answer = <A, R>(call: Effect.Effect<A, DriverFailure, R>) =>
    Effect.flatMap(ComputeTenant, (org) => {
      const slice = slices === undefined ? undefined : sliceOf(slices, org)
      return asComputeFailed(Effect.provideService(call, ComputeSlice, slice))
    })

  return ComputeDriver.of({
    createBranch: (branch, parent) => answer(fenced(branch, createBranch(branch, parent))),
    resetBranch: (branch, parent) => answer(fenced(branch, resetBranch(branch, parent))),
    deleteBranch: (branch) => answer(fenced(branch, deleteBranch(branch))),
    start: (wanted) => answer(fenced(wanted.branch_id, start(wanted))),
    stop: (endpoint) => answer(stop(endpoint)),
    applyRoles: (branch, roles) => answer(fenced(branch, applyRolesTo(branch, roles))),
    needsRoles: (branch, roles) => answer(needsRolesAt(branch, roles)),
    running: answer(running),
    // The space that is left is measured with what takes it: a disk fills while nothing starts.
    diskUsage: answer(Effect.andThen(disk.space, Effect.flatMap(allClusters, diskUsageOf)))
  })
})
