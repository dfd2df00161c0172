/**
 * Computes on this machine: one Postgres cluster a branch, one postmaster for all endpoints of the branch.
 *
 *     computes/branches/<branch id>/       a cluster (`Cluster`), with the branch's data
 *     sockets/<endpoint id>.<generation>   a link to its socket: the compute, as far as anybody outside can tell
 *
 * All state is on disk and in the process table, so that a process which comes after a crash sees what the former saw.
 * An endpoint runs when its link exists and the postmaster behind it lives. The link appears after the roles were
 * brought to the list, and goes first when the endpoint stops: a stale address leads nowhere.
 *
 * Pitfall: keeping the links of an earlier postmaster. A new one must not be reached through them, so they are removed
 * before it starts.
 * Pitfall: ending sessions with an address. While other endpoints of the branch run, stopping one closes its address
 * only; its sessions belong to the relay.
 */
import { mkdir, readdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { BranchId, type Compute, ComputeDriver, ComputeFailed, type ComputeStart, EndpointId } from "@narthex/core"
import { Effect, Layer, Option } from "effect"
import { asSupervisor } from "../cluster/asSupervisor.ts"
import { branchLocks } from "./BranchLocks.ts"
import { type Cluster, clusterAt, majorOf } from "../cluster/Cluster.ts"
import { copyRunning, copyStopped } from "../cluster/ClusterCopy.ts"
import { hasData, putData, removeData, sweepData } from "../cluster/ClusterData.ts"
import { clusterTemplate } from "../cluster/ClusterTemplate.ts"
import { lockDirectory } from "../machine/DirectoryLock.ts"
import { attempt, ImpossibleRequest, type LocalPostgresFailure } from "../machine/LocalPostgresError.ts"
import { applyRoles, prepareAccess } from "./MintedRoles.ts"
import { findMachine, type LocalPostgresOptions, openDataDirectory } from "../machine/Machine.ts"
import { findPostmaster, startPostgres, stopPostgres } from "../cluster/PostgresProcess.ts"
import { openSocketLinks } from "../cluster/SocketLinks.ts"

/** Starts nothing by itself; adopts what an earlier process left, and stops every compute when the scope closes. */
export const layer = (options: LocalPostgresOptions): Layer.Layer<ComputeDriver, LocalPostgresFailure> =>
  Layer.effect(ComputeDriver, make(options))

/** The domain does not check the form of an id; here it becomes a file name. */
const plain = /^[A-Za-z0-9][A-Za-z0-9_-]*$/
const computeName = /^([A-Za-z0-9][A-Za-z0-9_-]*)\.(\d+)$/

const refuse = (reason: string) => Effect.fail(new ImpossibleRequest({ reason }))

/** Failures as the port declares them. Only a failed step of the machine may succeed when it is repeated. */
const asComputeFailed = <A, R>(effect: Effect.Effect<A, LocalPostgresFailure | ImpossibleRequest, R>) =>
  Effect.mapError(
    effect,
    (error) => new ComputeFailed({ reason: error.message, retryable: error._tag === "LocalPostgresError" })
  )

const branchOf = (cluster: Cluster) => BranchId.make(basename(cluster.directory))

const make = Effect.fn("LocalComputeDriver.make")(function* (options: LocalPostgresOptions) {
  const dataDir = yield* openDataDirectory(options.dataDir)
  const branches = join(dataDir, "computes", "branches")
  yield* attempt(`Making ${branches}`, () => mkdir(branches, { recursive: true, mode: 0o700 }))
  yield* lockDirectory(join(dataDir, "computes"))
  const allClusters = attempt(`Listing ${branches}`, async () =>
    (await readdir(branches)).map((branch) => clusterAt(join(branches, branch), "compute"))
  )
  const versions = yield* Effect.forEach(yield* allClusters, (cluster) => Effect.option(majorOf(cluster.data)))
  const machine = yield* findMachine(options, versions.flatMap(Option.toArray)[0])
  const links = yield* openSocketLinks(dataDir)
  const locked = branchLocks()

  const clusterOf = (branch: BranchId) =>
    plain.test(branch)
      ? Effect.succeed(clusterAt(join(branches, branch), "compute"))
      : refuse(`${branch} cannot be the name of a directory.`)

  /** Every link that is a compute's; the embedded store may have one of its own beside them. */
  const computeLinks = Effect.map(links.list, (all) =>
    all.flatMap(({ cluster, name }) => {
      const [, endpoint, generation] = computeName.exec(name) ?? []
      return endpoint === undefined ? [] : [{ name, cluster, endpoint, generation: Number(generation) }]
    })
  )
  const linksTo = (cluster: Cluster) =>
    Effect.map(computeLinks, (all) => all.filter((it) => it.cluster === cluster.directory))
  const linksOf = (endpoint: EndpointId) =>
    Effect.map(computeLinks, (all) => all.filter((it) => it.endpoint === endpoint))
  const unlink = (gone: ReadonlyArray<{ readonly name: string }>) =>
    Effect.forEach(gone, ({ name }) => links.remove(name), { discard: true })

  const isRunning = (cluster: Cluster) => Effect.map(findPostmaster(cluster), Option.isSome)

  const stopAll = (cluster: Cluster) => Effect.andThen(Effect.flatMap(linksTo(cluster), unlink), stopPostgres(cluster))

  /** A postmaster that no endpoint needs any more. */
  const stopUnlinked = Effect.fnUntraced(function* (cluster: Cluster) {
    if ((yield* linksTo(cluster)).length === 0) yield* stopPostgres(cluster)
  })

  /**
   * Fills a branch from its parent. A running parent is not locked meanwhile, so its endpoints start and stop as ever
   * (a stop ends the backup, which is then tried again); a stopped one is, because it must stay so.
   */
  const fill = Effect.fnUntraced(function* (
    branch: BranchId,
    parent: BranchId,
    wanted: (cluster: Cluster) => Effect.Effect<boolean, LocalPostgresFailure>
  ) {
    const target = yield* clusterOf(branch)
    const source = yield* clusterOf(parent)
    if (branch === parent) return yield* refuse(`Branch ${branch} cannot be a copy of itself.`)
    const put = (copy: (making: string) => Effect.Effect<void, LocalPostgresFailure>) =>
      Effect.gen(function* () {
        if (!(yield* wanted(target))) return
        if (!(yield* hasData(source))) return yield* refuse(`The parent branch ${parent} has no data.`)
        yield* putData(target, copy)
      })
    const fromRunning = (making: string) => copyRunning(source, making, machine.user)
    const fromFiles = (making: string) => copyStopped(source.data, making)
    if (yield* locked([parent], isRunning(source))) return yield* locked([branch], put(fromRunning))
    const either = Effect.flatMap(isRunning(source), (running) => put(running ? fromRunning : fromFiles))
    yield* locked([branch, parent], either)
  })

  const createBranch = Effect.fn("LocalComputeDriver.createBranch")(function* (
    branch: BranchId,
    parent: Option.Option<BranchId>
  ) {
    const isMissing = (cluster: Cluster) => Effect.map(hasData(cluster), (there) => !there)
    if (Option.isSome(parent)) return yield* fill(branch, parent.value, isMissing)
    const cluster = yield* clusterOf(branch)
    const template = yield* clusterTemplate(dataDir, machine)
    const copy = Effect.gen(function* () {
      if (yield* isMissing(cluster)) yield* putData(cluster, (making) => copyStopped(template, making))
    })
    yield* locked([branch], copy)
  })

  const resetBranch = Effect.fn("LocalComputeDriver.resetBranch")((branch: BranchId, parent: BranchId) =>
    fill(branch, parent, (cluster) => Effect.as(stopAll(cluster), true))
  )

  const deleteBranch = Effect.fn("LocalComputeDriver.deleteBranch")(function* (branch: BranchId) {
    const cluster = yield* clusterOf(branch)
    yield* locked([branch], Effect.andThen(stopAll(cluster), removeData(cluster)))
  })

  const stop = Effect.fn("LocalComputeDriver.stop")(function* (endpoint: EndpointId) {
    for (const link of yield* linksOf(endpoint)) {
      const cluster = clusterAt(link.cluster, "compute")
      yield* locked([branchOf(cluster)], Effect.andThen(links.remove(link.name), stopUnlinked(cluster)))
    }
  })

  const start = Effect.fn("LocalComputeDriver.start")(function* (wanted: ComputeStart) {
    const { branch_id, endpoint_id, generation, roles } = wanted
    const cluster = yield* clusterOf(branch_id)
    if (!plain.test(endpoint_id)) return yield* refuse(`${endpoint_id} cannot be part of a path.`)
    const elsewhere = (yield* linksOf(endpoint_id)).some((it) => it.cluster !== cluster.directory)
    if (elsewhere) yield* stop(endpoint_id)
    const name = `${endpoint_id}.${generation}`
    const run = Effect.gen(function* () {
      if (!(yield* hasData(cluster))) return yield* refuse(`The branch ${branch_id} has no data.`)
      const former = (yield* linksOf(endpoint_id)).filter((it) => it.name !== name)
      if (former.some((it) => it.generation > generation)) {
        return yield* refuse(`A later generation of ${endpoint_id} than ${generation} was started.`)
      }
      if (!(yield* isRunning(cluster))) yield* Effect.flatMap(linksTo(cluster), unlink)
      yield* startPostgres(cluster, machine)
      yield* asSupervisor(cluster, "postgres", (sql) => Effect.andThen(prepareAccess(sql), applyRoles(sql, roles)))
      const address = yield* links.put(name, cluster)
      yield* unlink(former)
      return { endpoint_id, branch_id, generation, address } satisfies Compute
    })
    return yield* locked(
      [branch_id],
      Effect.onError(run, () => Effect.ignore(stopUnlinked(cluster)))
    )
  })

  const bringRoles = Effect.fn("LocalComputeDriver.applyRoles")(function* (
    branch: BranchId,
    roles: ComputeStart["roles"]
  ) {
    const cluster = yield* clusterOf(branch)
    const apply = asSupervisor(cluster, "postgres", (sql) => applyRoles(sql, roles))
    yield* locked(
      [branch],
      Effect.flatMap(isRunning(cluster), (runs) => (runs ? apply : Effect.void))
    )
  })

  const running = Effect.gen(function* () {
    const computes: Array<Compute> = []
    for (const link of yield* computeLinks) {
      const cluster = clusterAt(link.cluster, "compute")
      if (!(yield* isRunning(cluster))) continue
      const endpoint_id = EndpointId.make(link.endpoint)
      const { generation, name } = link
      computes.push({ endpoint_id, branch_id: branchOf(cluster), generation, address: links.pathOf(name) })
    }
    return computes
  }).pipe(Effect.withSpan("LocalComputeDriver.running"))

  /** What a crash left: half-made data, links to servers that died, servers that no link leads to. */
  for (const cluster of yield* allClusters) {
    yield* sweepData(cluster)
    if (yield* isRunning(cluster)) yield* stopUnlinked(cluster)
    else yield* stopAll(cluster)
  }
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(allClusters, (all) => Effect.forEach(all, stopAll, { concurrency: 8, discard: true })).pipe(
      Effect.catch((error) => Effect.logError("Some computes keep running", error))
    )
  )

  return ComputeDriver.of({
    createBranch: (branch, parent) => asComputeFailed(createBranch(branch, parent)),
    resetBranch: (branch, parent) => asComputeFailed(resetBranch(branch, parent)),
    deleteBranch: (branch) => asComputeFailed(deleteBranch(branch)),
    start: (wanted) => asComputeFailed(start(wanted)),
    stop: (endpoint) => asComputeFailed(stop(endpoint)),
    applyRoles: (branch, roles) => asComputeFailed(bringRoles(branch, roles)),
    running: asComputeFailed(running)
  })
})
