/**
 * One organization with every right it can have, and a stranger with none, work against the platform at full effort,
 * over real computes. A second organization goes on working, and a third revokes rights that are held on to.
 *
 * The short form asserts what may not fail. The long form also asserts durations: they depend on the machine, so each
 * is compared with the same step before the attack.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { long, times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { Platform } from "../support/Platform.ts"
import { emptyDirectory, ownAccount } from "../support/surroundings.ts"
import { assertEffective, startAttack } from "./support/attackers.ts"
import type { Means } from "./support/attacks/Attack.ts"
import { Bystander, type Durations, noDurations, steps } from "./support/Bystander.ts"
import { signIn } from "./support/Caller.ts"
import { mint, newKey, newProject, team } from "./support/organizations.ts"
import { type Ground, revoked } from "./support/revocations/Revocation.ts"
import { groups } from "./support/revocations/revocations.ts"

/** Seconds of attack in the long form: a minute, or what `NARTHEX_TEST_HOSTILE_SECONDS` says, for example 600. */
const seconds = times(0, Number(process.env["NARTHEX_TEST_HOSTILE_SECONDS"] ?? 60))
/** Rounds of the bystander: before the attack, and at least as many during it. */
const quietRounds = times(1, 20)
const loudRounds = times(1, 2)

/** In the short form the attackers have few lanes and quotas: what they may make costs minutes of a core. */
const effort = long ? 1 : 0.1
const quotas = long ? {} : { NARTHEX_QUOTA_PROJECTS: "8", NARTHEX_QUOTA_BRANCHES: "12", NARTHEX_QUOTA_SANDBOXES: "4" }

/** The short form tries one revocation of each group, which the seed of the run chooses. */
const tried = groups.map((group) => (long ? group : group.slice(Math.floor(Math.random() * group.length)).slice(0, 1)))

const directory = emptyDirectory(ownAccount)
let platform: Platform

const reach = () => {
  const { api, providers } = platform.ready
  return { api, issuer: providers[0]?.issuer ?? "" }
}

/** The hostile organization: an owner's session, an agent's key, and four projects. */
const hostile = async (bystander: Bystander): Promise<Means> => {
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
  return {
    effort,
    tenant,
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
      return { ...ids, owner, issuer, steady: await mint(owner, ids, "read_write") }
    })
  )
}

/** The value below which 99 of 100 values lie. */
const p99 = (values: ReadonlyArray<number>) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * 0.99))] ?? 0

/** Milliseconds below which a step is not compared: the noise of a busy machine. */
const floor = 100

const compare = (quiet: Durations, loud: Durations) => {
  const compared = steps.map((step) => ({ step, before: p99(quiet[step]), during: p99(loud[step]) }))
  for (const { before, during, step } of compared)
    note(
      `${step}: p99 ${Math.round(before)} ms in quiet, ${Math.round(during)} ms under attack, ${loud[step].length} times`
    )
  const slower = compared.filter(({ before, during }) => during > Math.max(3 * before, floor))
  if (long) assert.deepStrictEqual(slower, [], "steps that are more than three times as slow")
}

const attack = async () => {
  const { api, issuer } = reach()
  const bystander = await Bystander.make(await signIn(api, issuer, "127.0.0.1", "ada@example.com"))
  const means = await hostile(bystander)
  const fields = await grounds()
  const quiet = noDurations()
  for (let round = 0; round < quietRounds; round++) await bystander.round(quiet)

  const loud = noDurations()
  const took: Array<[string, number]> = []
  const attackers = await startAttack(means)
  try {
    const end = performance.now() + seconds * 1_000
    const working = async () => {
      for (let round = 0; round < loudRounds || performance.now() < end; round++) await bystander.round(loud)
    }
    const revoking = tried.map(async (group, index) => {
      const ground = fields[index]
      if (ground === undefined) throw new Error("Each group has a ground.")
      do for (const revocation of group) took.push([revocation.name, await revoked(revocation, ground)])
      while (performance.now() < end)
    })
    await Promise.all([working(), ...revoking, sleep(seconds * 1_000)])
    assertEffective(await attackers.stop())
  } finally {
    attackers.kill()
    for (const [name, milliseconds] of took) note(`${name}: ${Math.round(milliseconds)} ms`)
  }
  const late = took.filter(([, milliseconds]) => milliseconds > 10_000)
  if (long) assert.deepStrictEqual(late, [], "revocations that took longer than 10 s")
  compare(quiet, loud)
  await bystander.round(noDurations())
  bystander.close()
}

describe("a hostile organization and a stranger", () => {
  beforeAll(async () => {
    platform = await Platform.start(directory.path, ownAccount, { NARTHEX_RATE_LIMITS: "on", ...quotas })
  })
  afterAll(async () => {
    await platform?.clear()
    directory.remove()
  })

  it(
    "leave another organization its work, and lose every right that is revoked",
    { timeout: 600_000 + seconds * 2_000 },
    () => platform.explain(attack)
  )
})
