/**
 * How long a minted role lives (docs/design/authorization.md Z39, Z40): a pure rule over what was asked, who asks, and
 * the branch as it is under its lock.
 */
import { DateTime, Duration, Result } from "effect"
import { InvalidMember } from "../../Refusals.ts"
import type { Branch } from "../../records/projects/Branch.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"

/** Lifetime in seconds of a role that an agent key mints without naming a lifetime. */
const agentLifetime = 3600
/** The longest lifetime in seconds of a role that an agent key mints on a branch that it did not make, or that never expires. */
const maxAgentLifetime = 86_400

/** A number of seconds from now, as long as the branch, or what the caller gets without asking. */
export type Lifetime = { readonly seconds: number } | "branch" | "default"

const earliest = (...instants: ReadonlyArray<DateTime.Utc | null>): DateTime.Utc | null =>
  instants.reduce((first, at) => (first === null || (at !== null && DateTime.isLessThan(at, first)) ? at : first), null)

const isAgent = (caller: AnyCaller) => caller.kind === "api_key" && caller.capability === "agent"

/** Whether this very key made the branch, which is not main. It made none whose key was not recorded. */
const isOwn = (caller: AnyCaller, branch: Branch) =>
  caller.kind === "api_key" && branch.made_by_key_id === caller.api_key_id && !branch.main

/** When an agent's role ends at the latest: with the agent's own branch, if that expires. */
const agentEnd = (caller: AnyCaller, branch: Branch, now: DateTime.Utc): DateTime.Utc =>
  (isOwn(caller, branch) ? branch.expires_at : null) ?? DateTime.addDuration(now, Duration.seconds(maxAgentLifetime))

const tooLong = (caller: AnyCaller, branch: Branch, now: DateTime.Utc, end: DateTime.Utc) =>
  new InvalidMember({
    path: ["ttl_seconds"],
    reason:
      isOwn(caller, branch) && branch.expires_at !== null
        ? `The branch expires in ${Math.max(0, Math.floor((end.epochMilliseconds - now.epochMilliseconds) / 1000))} seconds, ` +
          "and an agent's credential does not outlive it. Ask for less, or leave ttl_seconds out."
        : `An agent's credential lives at most ${maxAgentLifetime} seconds on a branch that it did not make or that never expires. Ask for less.`
  })

/** When the role expires; `null`: never. A role that a key mints expires with the key at the latest. */
export const expiryOf = (
  caller: AnyCaller,
  branch: Branch,
  lifetime: Lifetime,
  now: DateTime.Utc
): Result.Result<DateTime.Utc | null, InvalidMember> => {
  const after = (seconds: number) => DateTime.addDuration(now, Duration.seconds(seconds))
  const withKey = caller.kind === "api_key" ? caller.expires_at : null
  const latest = isAgent(caller) ? agentEnd(caller, branch, now) : null
  if (lifetime === "branch") return Result.succeed(earliest(branch.expires_at, withKey))
  if (lifetime === "default")
    return Result.succeed(earliest(isAgent(caller) ? after(agentLifetime) : null, latest, withKey))
  const asked = after(lifetime.seconds)
  if (latest !== null && DateTime.isGreaterThan(asked, latest)) return Result.fail(tooLong(caller, branch, now, latest))
  return Result.succeed(earliest(asked, withKey))
}
