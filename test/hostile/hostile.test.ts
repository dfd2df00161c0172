/**
 * One person with every right in several organizations, and a stranger with none, work against the platform at full
 * effort, over real computes. A second organization goes on working, and a third revokes rights that are held on to.
 *
 * The short and the long form assert what may not fail, and how many operations of the attackers were begun while one
 * of the bystander waited. The long form also asserts how long a revocation takes, and prints how much slower each step
 * is than before the attack. `npm run test:hostile` runs it for a minute.
 *
 * The short form asks for one revocation of each group at once. The long form asks for one each four seconds, and for each
 * kind at least once: without a pause, each with a siege of its own, they take as much of the machine as the attackers do.
 */
import { tmpdir } from "node:os"
import { resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { defaultRunnerSettings } from "../../packages/core/src/runner/RunnerPolicy.ts"
import { long, times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { canMakeCpuGroups, makeCpuGroups } from "../support/cpuGroups.ts"
import { mountInMemory, unmount } from "../support/memoryFileSystem.ts"
import { Platform } from "../support/Platform.ts"
import { endProcessesIn } from "../support/processesIn.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { assertEffective, startAttack } from "./support/attackers.ts"
import type { Means, Other } from "./support/attacks/Attack.ts"
import { BystanderProcess } from "./support/BystanderProcess.ts"
import { type Caller, signIn } from "./support/Caller.ts"
import { type Measured, nothingMeasured, overtaken } from "./support/Measured.ts"
import { mint, newKey, newProject, newTeam, team } from "./support/organizations.ts"
import { type Revocations, report } from "./support/report.ts"
import { type Ground, revoked, within } from "./support/revocations/Revocation.ts"
import { groups } from "./support/revocations/revocations.ts"

/** Seconds of attack in the long form: a minute, or what `NARTHEX_TEST_HOSTILE_SECONDS` says, for example 600. */
const seconds = times(0, Number(process.env["NARTHEX_TEST_HOSTILE_SECONDS"] ?? 60))
/**
 * Rounds of the bystander before the attack, and at least as many during it, however long it takes: with fewer than a
 * hundred, the 99th percentile is the slowest one. It lists and connects three times as often.
 */
const rounds = times(1, 100)

/** In the short form the attackers have few lanes and quotas: what they may make costs minutes of a core. */
const effort = long ? 1 : 0.1
const otherOrganizations = times(1, 4)
const quotas = long ? {} : { NARTHEX_QUOTA_PROJECTS: "8", NARTHEX_QUOTA_BRANCHES: "12" }

/** Milliseconds between the beginnings of two revocations, which the long form spreads over the attack. */
const pace = times(0, 4_000)

/** The short form tries one revocation of each group, which the seed of the run chooses. */
const tried = groups.map((group) => (long ? group : group.slice(Math.floor(Math.random() * group.length)).slice(0, 1)))

const directory = emptyDirectory(ownAccount)
/**
 * The long form has the branches on a file system of their own, as the operator's guide advises: a bounded one in memory, or
 * where `NARTHEX_TEST_HOSTILE_DIRECTORY` says. On a disk a start waits for its flushes, which take as long as what everyone has
 * written before: then the durations are the disk's.
 */
const named = process.env["NARTHEX_TEST_HOSTILE_DIRECTORY"] || undefined
const computes = emptyDirectory(ownAccount, long ? resolve(named ?? tmpdir()) : undefined)
let isMounted = false
/** The long form runs the platform as the operator's guide advises: in a CPU control group of its own, if it can make one. */
const cpuGroups = long && canMakeCpuGroups() ? makeCpuGroups("hostile") : undefined
let platform: Platform

const reach = () => {
  const { api, providers } = platform.ready
  return { api, issuer: providers[0]?.issuer ?? "" }
}

/** A further organization of a person, with a project for calls and one for sessions. */
const other = async (person: Caller): Promise<Other> => {
  const tenant = await newTeam(person)
  const flood = await newProject(tenant, "flood")
  return { tenant, ...flood, uri: await mint(tenant, await newProject(tenant, "work"), "read_write") }
}

/** The hostile person: an owner's session, an agent's key, four projects, and further organizations. */
const hostile = async (bystander: BystanderProcess): Promise<Means> => {
  const { api, issuer } = reach()
  const tenant = await team(api, issuer, "127.0.1.1", "mallory@example.com")
  const agent = await newKey(tenant, "agent")
  const [flood, locks, slots, work] = await Promise.all([
    newProject(tenant, "flood"),
    newProject(tenant, "locks"),
    newProject(tenant, "slots"),
    newProject(tenant, "work")
  ])
  const [lockUri, slotUri, workUri] = await Promise.all(
    [locks, slots, work].map((ids) => mint(tenant, ids, "read_write"))
  )
  const others: Array<Other> = []
  for (let made = 0; made < otherOrganizations; made++) others.push(await other(tenant))
  return {
    effort,
    tenant,
    others,
    agent: agent.caller,
    org: tenant.org,
    ...flood,
    uris: { locks: lockUri ?? "", slots: slotUri ?? "", work: workUri ?? "" },
    read_only_uri: await mint(tenant, locks, "read_only"),
    victim: bystander.address,
    stranger: { api, from: "127.0.2.1" }
  }
}

/** The organization that revokes: a ground for each group of revocations. */
const grounds = async (): Promise<ReadonlyArray<Ground>> => {
  const { api, issuer } = reach()
  const owner = await team(api, issuer, "127.0.3.1", "grace@example.com")
  return Promise.all(
    tried.map(async () => {
      const ids = await newProject(owner, "ground")
      const steady = await mint(owner, ids, "read_write")
      return { ...ids, owner, issuer, steady, directory: directory.path }
    })
  )
}

/** Waits for the next turn of `pace`. */
const inTurn = (() => {
  let next = 0
  return () => {
    const now = performance.now()
    const turn = Math.max(now, next)
    next = turn + pace
    return sleep(turn - now)
  }
})()

/**
 * Waits of the bystander's operations in which the attackers began more operations than there are places: claims do not
 * take turns.
 */
const outOfTurn = async (loud: Measured, { others, tenant }: Means) => {
  const waits = await overtaken(loud.waits, [tenant, ...others.map((each) => each.tenant)])
  note(
    `operations of the attackers that began while one of the bystander waited: ${Math.max(...waits.map(({ by }) => by))}`
  )
  return waits.filter(({ by, class: of }) => by > defaultRunnerSettings.classes[of].places)
}

const attack = async () => {
  const { api, issuer } = reach()
  const first = cpuGroups !== undefined
  const bystander = await BystanderProcess.start(await signIn(api, issuer, "127.0.0.1", "ada@example.com"), first)
  cpuGroups?.standBack()
  try {
    await attackBeside(bystander)
  } finally {
    bystander.close()
  }
}

const attackBeside = async (bystander: BystanderProcess) => {
  const means = await hostile(bystander)
  const fields = await grounds()
  const quiet = await bystander.rounds(rounds)
  let loud = nothingMeasured()
  const took: Array<Revocations[number]> = []
  const late: typeof took = []
  const attackers = await startAttack(means, cpuGroups?.others)
  try {
    const end = performance.now() + seconds * 1_000
    const revoking = tried.map(async (group, index) => {
      const ground = fields[index]
      if (ground === undefined) throw new Error("Each group has a ground.")
      do
        for (const revocation of group) {
          await inTurn()
          const each = [revocation.name, await revoked(revocation, ground)] as const
          took.push(each)
          if (each[1] > within) late.push(each)
        }
      while (performance.now() < end)
    })
    const attacked = Promise.all([...revoking, sleep(seconds * 1_000)])
    // The bystander's measurements are reported also if a revocation fails.
    loud = await bystander.rounds(rounds, Promise.allSettled([attacked]))
    await attacked
    assertEffective(await attackers.stop())
  } finally {
    attackers.kill()
    report(quiet, loud, took)
  }
  const after = await bystander.rounds(1)
  const failures = [quiet, loud, after].flatMap((measured) => measured.failures)
  assert.deepStrictEqual(failures, [], "failures of the bystander")
  for (const { took } of [quiet, loud]) assert.isAtLeast(took.create.length, rounds, "rounds of the bystander")
  assert.deepStrictEqual(await outOfTurn(loud, means), [], "waits behind operations of the attackers")
  if (!long) return
  assert.deepStrictEqual(late, [], "revocations that took too long, in milliseconds")
}

describe("a hostile organization and a stranger", () => {
  beforeAll(async () => {
    isMounted = long && named === undefined && mountInMemory(computes.path)
    const settings = {
      NARTHEX_RATE_LIMITS: "on",
      NARTHEX_PROXY_PROCESSES: "2",
      NARTHEX_COMPUTE_DIR: computes.path,
      ...quotas
    }
    platform = await Platform.start(directory.path, ownAccount, settings, {
      detached: true,
      cpuGroup: cpuGroups?.platform
    })
    if (long && cpuGroups === undefined)
      note("The platform is in no CPU control group: run it as root to measure that.")
    if (isMounted)
      note("The branches are in memory: how long a disk takes is not measured (NARTHEX_TEST_HOSTILE_DIRECTORY).")
    else if (long) note(`The branches are in ${computes.path}: on a disk its flushes are measured, too.`)
  })
  afterAll(async () => {
    await platform?.clear()
    await endProcessesIn(computes.path)
    if (isMounted) unmount(computes.path)
    directory.remove()
    computes.remove()
    await cpuGroups?.remove()
  })

  it(
    "leave another organization its work, and lose every right that is revoked",
    { timeout: 600_000 + seconds * 2_000 },
    () => platform.explain(attack)
  )
})
