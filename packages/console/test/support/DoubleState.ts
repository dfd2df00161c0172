/** The state of the API double: people, organizations, sessions, projects, keys. */
import { randomBytes, randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"

export interface Person {
  readonly id: string
  readonly email: string
  readonly personal: string
  pending: boolean
}

export interface Org {
  readonly id: string
  name: string
  readonly personal: boolean
  readonly members: Map<string, string>
  readonly invited: Array<{ readonly id: string; readonly email: string; readonly role: string; status: string }>
}

export interface Held {
  readonly sid: string
  readonly person: Person
  org: string
  readonly expires_at: number
  readonly auth_time: number
}

export interface StoredProject {
  readonly id: string
  readonly org_id: string
  name: string
  readonly region_id: string
  readonly branch_id: string
  readonly endpoint_id: string
  endpoint_state: "idle" | "active"
  readonly rules: Array<StoredRule>
  /** Refused clients, as the API lists them. */
  readonly refusals: Array<StoredRefusal>
  /** `false`: the API is of a version that does not list them. */
  lists_refusals: boolean
  readonly credentials: Array<StoredCredential>
  readonly operations: Array<StoredOperation>
  /** Without the first, main. */
  readonly branches: Array<StoredBranch>
  /** Without the first, that of main. */
  readonly endpoints: Array<StoredEndpoint>
}

export interface StoredRefusal {
  readonly address: string
  readonly count: number
  readonly role?: string
  readonly reason?: string
  /** Left out: that of the project's first endpoint. */
  readonly endpoint_id?: string
  /** Left out: days ago. */
  readonly last_at?: string
}

export interface StoredOperation {
  readonly id: string
  readonly action: string
  /** Left out: finished. */
  readonly status?: string
  readonly error?: string
  readonly branch_id?: string
  readonly endpoint_id?: string
}

export interface StoredBranch {
  readonly id: string
  readonly parent_id: string
  name: string
  protected: boolean
  expires_at: string | null
}

export interface StoredEndpoint {
  readonly id: string
  readonly branch_id: string
  readonly type: string
  disabled: boolean
  timeout: number
}

export interface StoredCredential {
  readonly role: string
  readonly access: string
  /** The compute does not confirm the end of its sessions. */
  readonly stuck: boolean
}

export interface StoredRule {
  readonly cidr: string
  readonly label: string
  readonly ttl_seconds: number | null
}

export interface StoredKey {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly capability: string
  readonly scope: { readonly type: string; readonly project_id?: string }
  readonly expires_in_days: number | null
  readonly person: Person
}

export interface StoredInvitation {
  readonly id: string
  readonly org: string
  readonly to: Person
  readonly by: Person
}

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
export const ulid = () => `0${Array.from(randomBytes(25), (byte) => alphabet[byte % 32]).join("")}`

export class DoubleState {
  /** Trusted issuers, by the id of the provider. */
  readonly issuers = new Map<string, string>()
  readonly people = new Map<string, Person>()
  readonly orgs = new Map<string, Org>()
  /** By token. */
  readonly held = new Map<string, Held>()
  readonly revoked = new Set<string>()
  readonly projects = new Map<string, StoredProject>()
  readonly keys = new Map<string, StoredKey>()
  readonly invitations = new Map<string, StoredInvitation>()
  /** By person: the organization that the first sign-in led into, and who invited. */
  readonly landed = new Map<string, { readonly org: string; readonly by: Person }>()
  /** Events of the log, oldest first, as the API sends them. */
  readonly events: Array<Readonly<Record<string, unknown>>> = []
  readonly usedStates = new Set<string>()
  readonly replays = new Map<string, unknown>()
  readonly streams = new Set<ServerResponse>()
  regions = ["eu-north", "us-west"]
  /** Coordinates of regions; others are at 0, 0. */
  readonly places = new Map<string, { readonly geo_lat: number; readonly geo_long: number }>()
  /** A part of projects that the API does not know. */
  leavesOut: string | null = null
  openSignup = true
  allowlist: ReadonlyArray<string> | null = null
  tokenLifetime = 15 * 60_000
  consoleToken: string | null = null
  /** Called when the next stream is closed by its reader. */
  readonly streamClosed: Array<() => void> = []

  person(email: string): Person {
    const known = this.people.get(email)
    if (known !== undefined) return known
    const org = this.org(`${email.split("@")[0]}'s organization`, true)
    const person: Person = { id: randomUUID(), email, personal: org.id, pending: !this.openSignup }
    org.members.set(person.id, "owner")
    this.people.set(email, person)
    return person
  }

  org(name: string, personal = false): Org {
    const org: Org = { id: randomUUID(), name, personal, members: new Map(), invited: [] }
    this.orgs.set(org.id, org)
    return org
  }

  issue(person: Person, org: string, sid: string = randomUUID(), auth_time = Date.now()): string {
    const token = `token.${randomBytes(16).toString("base64url")}.signature`
    this.held.set(token, { sid, person, org, auth_time, expires_at: Date.now() + this.tokenLifetime })
    return token
  }

  addProject(org_id: string, name: string, region_id = "eu-north"): StoredProject {
    const project: StoredProject = {
      id: `prj-${ulid()}`,
      org_id,
      name,
      region_id,
      branch_id: `br-${ulid()}`,
      endpoint_id: `ep-${ulid()}`,
      endpoint_state: "idle",
      rules: [],
      refusals: [],
      lists_refusals: true,
      credentials: [],
      operations: [{ id: randomUUID(), action: "create_timeline" }],
      branches: [],
      endpoints: []
    }
    this.projects.set(project.id, project)
    return project
  }

  addKey(key: Omit<StoredKey, "id">): StoredKey {
    const stored = { ...key, id: `key-${ulid()}` }
    this.keys.set(stored.id, stored)
    return stored
  }

  /** Sends a frame to every open stream. */
  emit(frame: string) {
    for (const stream of this.streams) stream.write(frame)
  }
}
