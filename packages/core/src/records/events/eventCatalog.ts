/**
 * Every type of event that the control plane itself sends or logs (docs/design/events.md E52), with its moment and the
 * members of its data. `docs/events.md` is made from it. Types that a host declares are in no catalog (E48).
 */

/** An entry of the catalog. */
export interface CatalogedEvent {
  readonly source: string
  /** Whether clients see it. Internal events never leave the instances. */
  readonly clients: boolean
  readonly moment: string
  /** Member of `data` → what it is. A member that may be left out ends with `?`. */
  readonly data: Readonly<Record<string, string>>
}

export const eventCatalog = {
  "operation.updated.v1": {
    source: "operations",
    clients: true,
    moment: "An operation is scheduled, and each time its `status` changes. A retry inside `running` has no event.",
    data: {
      operation_id: "The operation.",
      action: "What it does, for example `start_compute`.",
      status:
        "Its new status: `scheduling`, `running`, `finished`, `failed`, `error`, `cancelling`, `cancelled` or `skipped`.",
      "branch_id?": "The branch that it is for.",
      "endpoint_id?": "The endpoint that it is for.",
      "error?": "Why it failed, as a sentence.",
      initiator: "Who or what requested it: `type`, and `id` and `name` of a user or an API key."
    }
  },
  "resume.gap.v1": {
    source: "_broker",
    clients: true,
    moment: "A stream opens with a `Last-Event-ID` after which events cannot be replayed. Fetch the state again.",
    data: {
      reason:
        "`malformed`: the id is no ULID; `ahead`: the log has no such event; `too_old`: events after it have left the ring.",
      last_event_id: "The id that the client sent; `null`: it was no ULID.",
      oldest_id: "The oldest event of the scope that could be replayed; `null`: there is none.",
      latest_id: "The newest event of the organization.",
      history_url: "The path of the history; with `too_old`, of the events after the client's id."
    }
  },
  "overflow.v1": {
    source: "_broker",
    clients: true,
    moment: "A client read too slowly; its stream ends. Fetch the state and connect again.",
    data: {
      dropped: "How many events of the scope the client did not get.",
      latest_id: "The newest event of the organization."
    }
  },
  "error.v1": {
    source: "_broker",
    clients: true,
    moment:
      "Instead of an event that cannot be encoded or is too large, with the id of that event. The stream continues.",
    data: {
      code: "`event_unencodable` or `event_too_large`.",
      message: "The same as a sentence."
    }
  },
  "webhook.test.v1": {
    source: "webhooks",
    clients: true,
    moment: "A member tests a webhook. No other webhook delivers it.",
    data: { webhook_id: "The webhook." }
  },
  "internal.revoked.v1": {
    source: "internal",
    clients: false,
    moment:
      "A session, key, membership, account, project, branch or organization loses its rights. Streams of them end.",
    data: {
      "session_id?": "The session that ended.",
      "api_key_id?": "The key that was revoked or rotated.",
      "project_id?": "The project that was deleted.",
      "branch_id?": "The branch that was deleted.",
      "org_id?": "With `user_id`: the organization of the membership. Alone: the organization that was deleted.",
      "user_id?": "With `org_id`: the member. Alone: the account that was disabled."
    }
  },
  "internal.allowlist_changed.v1": {
    source: "internal",
    clients: false,
    moment: "The IP allowlist of a project has a new version. Proxies load it again.",
    data: {
      project_id: "The project.",
      version: "The version of its allowlist."
    }
  },
  "internal.endpoint_changed.v1": {
    source: "internal",
    clients: false,
    moment:
      "An endpoint was disabled, suspended, deleted or is started again for its size. Proxies ask for it again, and cut its sessions.",
    data: {
      endpoint_id: "The endpoint."
    }
  },
  "internal.cancel_requested.v1": {
    source: "internal",
    clients: false,
    moment: "A cancel request has reached a proxy without its session. The proxy that has it forwards the request.",
    data: {
      key_hash: "The SHA-256 of the cancel key.",
      client_address: "The address of the client."
    }
  }
} as const satisfies Readonly<Record<string, CatalogedEvent>>

type Catalog = typeof eventCatalog

/** The types that have this source: an event of another type does not compile where it is made. */
export type EventTypeOf<Source extends Catalog[keyof Catalog]["source"]> = {
  [Type in keyof Catalog]: Catalog[Type]["source"] extends Source ? Type : never
}[keyof Catalog]
