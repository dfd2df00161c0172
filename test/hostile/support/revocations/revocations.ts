/** Every way in which a right to a database ends. Revocations of a group run in sequence, on a ground of their own. */
import { until } from "../../../harness/eventually.ts"
import { operator } from "../../../support/commands.ts"
import { call, eventuallyMust, must, textAt } from "../Caller.ts"
import { credentialsOf, mint, newKey, newMember, newProject, newTeam, roleIn } from "../organizations.ts"
import { expireKey } from "./expireKey.ts"
import type { Ground, Revocation, Right } from "./Revocation.ts"

const from = "127.0.3.1"

/** A revocation that a compute does not confirm within 10 s is answered 503, and a repetition waits again. */
const revokeCredential = (ground: Ground, uri: string) =>
  until("the confirmation of a revocation", async () => {
    const { status } = await call(ground.owner, "DELETE", `${credentialsOf(ground)}/${roleIn(uri)}`)
    return status === 204 || status === 404
  })

/** Before Postgres 16 a role that only reads has four sessions. */
const ofReader = { most: 3 }

const observed = ({ steady }: Ground) => ({ uri: steady, from })

/** A number that makes addresses of people unique within a run. */
let people = 0

const ofCredentials: ReadonlyArray<Revocation> = [
  {
    name: "a credential is revoked whose sessions are as many as a role may have",
    make: async (ground) => {
      const uri = await mint(ground.owner, ground, "read_write")
      const revoke = () => revokeCredential(ground, uri)
      return { uri, from, crowd: 70, revoke, observer: observed(ground) }
    }
  },
  {
    name: "a credential is revoked that is used through a read-only endpoint",
    make: async (ground) => {
      const uri = await mint(ground.owner, ground, "read_write")
      const path = `/v1/projects/${ground.project}/endpoints`
      const made = await must(ground.owner, "POST", path, { branch_id: ground.branch })
      const endpoint = textAt(made, "endpoint", "id")
      const through = uri.replace(ground.endpoint, endpoint)
      const revoke = () => revokeCredential(ground, uri)
      return { uri: through, from, ...ofReader, revoke, observer: observed(ground) }
    }
  },
  {
    name: "the key that minted a credential is revoked",
    make: async (ground) => {
      const { caller, id } = await newKey(ground.owner, "read_write")
      const uri = await mint(caller, ground, "read_write")
      const revoke = () => must(ground.owner, "DELETE", `/v1/api-keys/${id}`)
      return { uri, from, revoke, token: caller, observer: observed(ground) }
    }
  },
  {
    name: "the key of an agent with a read-only credential is reported as leaked",
    make: async (ground) => {
      const { caller, secret } = await newKey(ground.owner, "agent")
      const uri = await mint(caller, ground, "read_only")
      const revoke = () => must({ api: caller.api, from }, "POST", "/v1/credentials/report", { secret })
      return { uri, from, ...ofReader, revoke, token: caller, observer: observed(ground) }
    }
  }
]

/** A branch that an agent made, with its connection string and a credential of the owner. */
const sandboxOf = async (ground: Ground) => {
  const { caller } = await newKey(ground.owner, "agent")
  const made = await eventuallyMust(caller, "POST", `/v1/projects/${ground.project}/sandboxes`, {})
  const branch = textAt(made, "branch", "id")
  const path = `/v1/projects/${ground.project}/branches/${branch}`
  const steady = await mint(ground.owner, { ...ground, branch }, "read_only")
  return { path, uri: textAt(made, "connection_uri"), observer: { uri: steady, from } }
}

const ofPeople: ReadonlyArray<Revocation> = [
  {
    name: "a member becomes a viewer",
    make: async (ground) => {
      const { caller, user } = await newMember(ground.owner, ground.issuer, `member-${++people}@example.com`)
      const uri = await mint(caller, ground, "read_write")
      const path = `/v1/orgs/${ground.owner.org}/members/${user}`
      return {
        uri,
        from,
        revoke: () => must(ground.owner, "PATCH", path, { role: "viewer" }),
        observer: observed(ground)
      }
    }
  },
  {
    name: "a member is removed",
    make: async (ground) => {
      const { caller, user } = await newMember(ground.owner, ground.issuer, `member-${++people}@example.com`)
      const key = await newKey(caller, "read_write")
      const uri = await mint(key.caller, ground, "read_write")
      const path = `/v1/orgs/${ground.owner.org}/members/${user}`
      const revoke = () => must(ground.owner, "DELETE", path)
      return { uri, from, revoke, token: key.caller, observer: observed(ground) }
    }
  },
  {
    name: "a member leaves",
    make: async (ground) => {
      const { caller, user } = await newMember(ground.owner, ground.issuer, `member-${++people}@example.com`)
      const key = await newKey(caller, "read_write")
      const uri = await mint(key.caller, ground, "read_write")
      const leave = `/v1/orgs/${ground.owner.org}/members/${user}?confirm_self_lockout=true`
      const revoke = () => must(caller, "DELETE", leave)
      return { uri, from, revoke, token: key.caller, observer: observed(ground) }
    }
  },
  {
    name: "a person is disabled",
    make: async (ground) => {
      const email = `member-${++people}@example.com`
      const { caller } = await newMember(ground.owner, ground.issuer, email)
      const key = await newKey(caller, "read_write")
      const uri = await mint(key.caller, ground, "read_write")
      // The time includes the start of the command.
      const revoke = () => operator(ground.directory, "accounts", "disable", email)
      return { uri, from, revoke, fromEnd: true, token: key.caller, observer: observed(ground) }
    }
  },
  {
    name: "an agent's sandbox becomes protected",
    make: async (ground) => {
      const { path, ...right } = await sandboxOf(ground)
      return { ...right, from, revoke: () => must(ground.owner, "PATCH", path, { protected: true, ttl_seconds: null }) }
    }
  },
  {
    name: "an agent's sandbox becomes main",
    make: async (ground) => {
      const { path, ...right } = await sandboxOf(ground)
      await must(ground.owner, "PATCH", path, { ttl_seconds: null })
      return { ...right, from, revoke: () => eventuallyMust(ground.owner, "POST", `${path}/set-default`) }
    }
  }
]

/** The ends of a whole thing: its compute ends too, so no other session of it can observe. */
const ending = async (ground: Ground, end: (made: Ground) => Promise<unknown>): Promise<Right> => {
  const ids = await newProject(ground.owner, "to end")
  const uri = await mint(ground.owner, ids, "read_write")
  return { uri, from, revoke: () => end({ ...ground, ...ids }) }
}

const ofThings: ReadonlyArray<Revocation> = [
  // Before the allowlist restricts the ground, until "a branch is deleted" lifts it.
  {
    name: "an endpoint is disabled while another one of its branch runs",
    make: async (ground) => {
      const uri = await mint(ground.owner, ground, "read_write")
      const path = `/v1/projects/${ground.project}/endpoints`
      const made = await must(ground.owner, "POST", path, { branch_id: ground.branch })
      const endpoint = textAt(made, "endpoint", "id")
      const revoke = () => must(ground.owner, "PATCH", `${path}/${endpoint}`, { disabled: true })
      return { uri: uri.replace(ground.endpoint, endpoint), from, ...ofReader, revoke, observer: observed(ground) }
    }
  },
  {
    name: "an entry of the allowlist is removed",
    make: async (ground) => {
      const list = `/v1/projects/${ground.project}/ip-allow`
      for (const cidr of ["127.0.3.0/24", "127.0.4.0/24"]) await must(ground.owner, "POST", list, { cidr })
      const uri = await mint(ground.owner, ground, "read_write")
      const revoke = () => must(ground.owner, "DELETE", `${list}/127.0.3.0%2F24`)
      return { uri, from, revoke, observer: { uri: ground.steady, from: "127.0.4.1" } }
    }
  },
  {
    name: "an endpoint is disabled",
    make: (ground) =>
      ending(ground, ({ endpoint, owner, project }) =>
        must(owner, "PATCH", `/v1/projects/${project}/endpoints/${endpoint}`, { disabled: true })
      )
  },
  {
    name: "a branch is deleted",
    make: async (ground) => {
      const made = await must(ground.owner, "POST", `/v1/projects/${ground.project}/branches`, { endpoint: true })
      const branch = textAt(made, "branch", "id")
      await must(ground.owner, "DELETE", `/v1/projects/${ground.project}/ip-allow`)
      const uri = await mint(ground.owner, { ...ground, branch }, "read_write")
      return {
        uri,
        from,
        revoke: () => must(ground.owner, "DELETE", `/v1/projects/${ground.project}/branches/${branch}`)
      }
    }
  },
  {
    name: "a project is deleted",
    make: (ground) => ending(ground, ({ owner, project }) => must(owner, "DELETE", `/v1/projects/${project}`))
  },
  {
    name: "an organization is deleted",
    make: async (ground) => {
      const owner = await newTeam(ground.owner)
      const { caller } = await newKey(owner, "agent")
      const right = await ending({ ...ground, owner }, async ({ project }) => {
        await must(owner, "DELETE", `/v1/projects/${project}`)
        await until("the end of the organization", async () => {
          const { status } = await call(owner, "DELETE", `/v1/orgs/${owner.org}`)
          return status === 204
        })
      })
      return { ...right, token: caller }
    }
  }
]

/** The siege has to be laid before the expiry, so each further attempt has twice the seconds. */
const secondsOf = (attempt: number) => 10 * 2 ** attempt

/** Waits for the end of this many seconds from now. */
const expiry = (seconds: number) => {
  const expired = performance.now() + seconds * 1_000
  const limit = 2_000 * seconds
  return () => until("the expiry", () => performance.now() > expired, { every: 20, limit })
}

const ofTime: ReadonlyArray<Revocation> = [
  {
    name: "a credential expires",
    expires: true,
    make: async (ground, attempt) => {
      const revoke = expiry(secondsOf(attempt))
      const uri = await mint(ground.owner, ground, "read_write", secondsOf(attempt))
      return { uri, from, revoke, fromEnd: true, observer: observed(ground) }
    }
  },
  {
    name: "a key expires, and the credential that it minted",
    expires: true,
    make: async (ground, attempt) => {
      const { caller, id } = await newKey(ground.owner, "read_write")
      const revoke = expiry(secondsOf(attempt))
      await expireKey(ground.directory, id, secondsOf(attempt))
      const uri = await mint(caller, ground, "read_write")
      return { uri, from, revoke, fromEnd: true, token: caller, observer: observed(ground) }
    }
  },
  {
    name: "an agent's sandbox expires",
    expires: true,
    make: async (ground, attempt) => {
      const { caller } = await newKey(ground.owner, "agent")
      const revoke = expiry(secondsOf(attempt))
      const wanted = { ttl_seconds: secondsOf(attempt) }
      const made = await must(caller, "POST", `/v1/projects/${ground.project}/sandboxes`, wanted)
      return { uri: textAt(made, "connection_uri"), from, revoke, fromEnd: true }
    }
  }
]

export const groups: ReadonlyArray<ReadonlyArray<Revocation>> = [ofCredentials, ofPeople, ofThings, ofTime]
