/** Members of requests about webhooks. */
import { exampleIds as ids, type MemberEntry } from "@narthex/core"

const url = "https://hooks.example.com/narthex"
const label = "The purpose of the webhook, for people: 256 characters at most."
const types = "Only events of these types are delivered; empty: all."
const example = ["operation.updated.v1"]

export const webhookMembers: Readonly<Record<string, MemberEntry>> = {
  "webhooks.create.url": ["Where events are delivered. It begins with `https://`.", url],
  "webhooks.create.label": [`${label} Left out: nothing.`, "billing"],
  "webhooks.create.types": [`${types} Left out: all.`, example],
  "webhooks.create.project_id": [
    "Only events of this project are delivered. Left out: those of the whole organization.",
    ids.project
  ],
  "webhooks.update.url": ["The new URL. It begins with `https://`.", url],
  "webhooks.update.label": [label, "billing"],
  "webhooks.update.types": [types, example],
  "webhooks.rotateSecret.grace_seconds": [
    "For how many seconds deliveries have a signature of the former secret, too; 0: none does. Left out: a day.",
    3600
  ],
  "webhooks.replay.after": [
    "The id of the event behind which the deliveries go on. Left out: behind the last one that is done.",
    ids.event
  ]
}
