/** Whether a world is unchanged. A refused call changes nothing. */
import {
  ApiKeyStore,
  BranchRoleStore,
  BranchStore,
  EndpointStore,
  InvitationStore,
  IpAllowlistStore,
  OperationStore,
  ProjectStore,
  WebhookStore
} from "@narthex/core"
import { Effect, Option } from "effect"
import type { World } from "./World.ts"

const all = { limit: 1000, after: null }
const text = (value: unknown) => JSON.stringify(value)

/** The differences, in words. */
export const changesOf = Effect.fnUntraced(function* ({ made, org }: World) {
  const allowlist = yield* IpAllowlistStore
  const branches = yield* BranchStore
  const endpoints = yield* EndpointStore
  const invitations = yield* InvitationStore
  const keys = yield* ApiKeyStore
  const operations = yield* OperationStore
  const projects = yield* ProjectStore
  const roles = yield* BranchRoleStore
  const webhooks = yield* WebhookStore
  const changes: Array<string> = []
  const note = (changed: boolean, what: string) => {
    if (changed) changes.push(what)
  }
  const one = <A extends { readonly id: string }>(found: Option.Option<A>, record: A) =>
    note(text(Option.getOrNull(found)) !== text(record), `${record.id} is another than it was`)

  for (const record of made.projects) {
    one(yield* projects.find(record.org_id, record.id), record)
    const listed = yield* branches.list(record.id, null, all)
    const known = made.branches.filter((branch) => branch.project_id === record.id)
    note(listed.items.length !== known.length, `${record.id} has other branches`)
    const reached = yield* endpoints.list(record.id, null, all)
    note(reached.items.length !== known.length, `${record.id} has other endpoints`)
    const worked = yield* operations.list(record.id, {}, all)
    note(worked.items.length !== known.length, `${record.id} has other operations`)
    note((yield* allowlist.all(record.id)).length !== 1, `${record.id} has another allowlist`)
  }
  for (const record of made.branches) one(yield* branches.find(record.project_id, record.id), record)
  for (const record of made.endpoints) one(yield* endpoints.find(record.project_id, record.id), record)
  for (const record of made.invitations) {
    const found = Option.getOrUndefined(yield* invitations.lock(record.org_id, record.id))
    note(text(found) !== text(record), `the invitation ${record.id} is another than it was`)
  }
  for (const record of made.webhooks) one(yield* webhooks.find(record.org_id, record.id), record)
  for (const record of made.roles) {
    const found = Option.getOrNull(yield* roles.find(record.branch_id, record.role))
    note(text(found) !== text(record), `the role ${record.role} is another than it was`)
  }
  for (const { id, org: home } of made.keys) {
    const found = yield* keys.find(home, id)
    // The keys of the former member are ended by the fixture itself.
    const alive = Option.exists(found, (it) => it.key.revoked_at === null || it.revoked_reason === "membership_ended")
    note(!alive, `the key ${id} is gone`)
  }
  const mine = made.projects.filter((record) => record.org_id === org)
  note((yield* projects.list(org, null, all)).items.length !== mine.length, "the organization has other projects")
  const pending = made.invitations.filter((record) => record.org_id === org)
  note((yield* invitations.list(org, all)).items.length !== pending.length, "the organization has other invitations")
  const hooks = made.webhooks.filter((record) => record.org_id === org)
  note((yield* webhooks.list(org, all)).items.length !== hooks.length, "the organization has other webhooks")
  return changes
}, Effect.orDie)
