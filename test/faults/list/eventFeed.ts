/** The feed, the opening of streams and their revocation. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventFeed: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/EventFeed.ts",
    tests: [
      "packages/core/test/events/EventFeed.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts"
    ],
    faults: [
      {
        id: "feed-head-back",
        find: "head.pos > from.pos || (head.pos === from.pos && head.id === from.id) ? [] : undefined",
        put: "head.pos >= 0 ? [] : undefined",
        why: "A log that went back begins again."
      },
      {
        id: "feed-head-past",
        find: "known.id === from.id ? batch : undefined",
        put: "batch",
        why: "A log that went back and is past its former head begins again."
      },
      {
        id: "feed-doubt",
        find: "for (const subscriber of subscribers) subscriber.resumed?.()",
        put: "",
        why: "Subscribers learn that the log answers again."
      },
      {
        id: "feed-hole",
        find: "if (hole) subscriber.restart?.(from.pos)",
        put: "",
        why: "Streams do not go on over a hole in the log."
      },
      {
        id: "feed-cursor",
        find: "cursor = batch.at(-1) ?? from",
        put: "cursor = batch.at(0) ?? from",
        why: "Each event is delivered once."
      },
      {
        id: "feed-subscribe-late",
        find: "if (cursor !== undefined) subscriber.restart?.(cursor.pos)",
        put: "",
        why: "A subscriber that joins a running feed learns where it starts."
      },
      {
        id: "feed-unsubscribe",
        find: "subscribers.delete(subscriber)",
        put: "undefined",
        why: "A subscriber is called until its scope closes."
      },
      {
        id: "feed-batches",
        find: "if (batch !== undefined && batch.length < settings.tail_batch) break",
        put: "break",
        why: "A pass reads to the end of the log."
      },
      {
        id: "feed-refresh",
        find: "waiting = [...waiting, request]\n          yield* Queue.offer(hints, undefined)",
        put: "waiting = [...waiting, request]",
        why: "A refresh does not wait for the next poll."
      },
      {
        id: "feed-hinted",
        find: "if (Duration.isGreaterThan(yield* untilDue, Duration.zero)) return",
        put: "",
        why: "A hint is followed by a read alone."
      },
      {
        id: "feed-due",
        find: "Duration.subtract(settings.poll, Duration.nanos(now - sequencedAt))",
        put: "settings.poll",
        why: "Events of an instance that has died get their ids, also while others send hints without a pause."
      },
      {
        id: "feed-turned-away",
        find: 'sequencedAt = state === "busy" ? undefined : now',
        put: "sequencedAt = now",
        why: "What another instance has left behind gets ids with its hint."
      },
      {
        id: "feed-refresh-ids",
        find: "if (requests.length > 0) sequencedAt = undefined",
        put: "",
        why: "A refresh delivers what was committed before it."
      },
      {
        id: "feed-trim",
        find: "yield* log.trim(DateTime.subtractDuration(now, settings.retention), settings.ring_events)",
        put: "yield* log.trim(now, settings.ring_events)",
        why: "Events stay for the retention time."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/EventStreams.ts",
    tests: [
      "packages/core/test/events/streams/EventStreams.behind.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts"
    ],
    faults: [
      {
        id: "open-permits",
        find: "if (!(yield* authority.permits(access))) admission.revoke()",
        put: "",
        why: "A client whose right has ended gets no stream."
      },
      {
        id: "open-turn-over",
        find: "if (turn !== undefined) stream.onSettled(turn.over)",
        put: "",
        why: "A replay that is done gives its turn to the next."
      },
      {
        id: "open-cancel",
        find: "                  turn?.over()\n                  admission.cancel()",
        put: "                  turn?.over()",
        why: "An interrupted opening gives its place back."
      },
      {
        id: "open-draining",
        find: "if (drain.begun) return drain.refuse(request)",
        put: "",
        why: "A stopping instance takes no new streams."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/ReplayBudget.ts",
    tests: ["packages/core/test/events/streams/ReplayBudget.test.ts"],
    faults: [
      {
        id: "budget-count",
        find: "this.#running.size < this.#replays &&",
        put: "this.#running.size <= this.#replays &&",
        why: "No more replays run at a time than the setting says."
      },
      {
        id: "budget-bytes",
        find: "inFlight + request.bytes <= this.#bytes",
        put: "true",
        why: "Replays have no more bytes in flight together than the setting says."
      },
      {
        id: "budget-over",
        find: "        this.#running.delete(request)\n        this.#grant()",
        put: "        this.#running.delete(request)",
        why: "A turn that is over goes to the next."
      },
      {
        id: "budget-waiting",
        find: "        this.#waiting.delete(request)\n        this.#running",
        put: "        this.#running",
        why: "A client that left waits for no turn."
      },
      {
        id: "budget-large",
        find: "if (!fits && this.#running.size > 0) return",
        put: "if (!fits) return",
        why: "A replay larger than the whole budget runs alone."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/StreamAccess.ts",
    tests: [
      "packages/core/test/events/streams/StreamAccess.narrow.test.ts",
      "packages/core/test/events/streams/StreamAccess.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts"
    ],
    faults: [
      {
        id: "revocation-session",
        find: "principal.session_id === revocation.session_id",
        put: "principal.session_id !== revocation.session_id",
        why: "A revoked session ends its own streams and no other."
      },
      {
        id: "revocation-key",
        find: "principal.api_key_id === revocation.api_key_id",
        put: "principal.api_key_id !== null",
        why: "A revoked key ends its own streams and no other key's."
      },
      {
        id: "revocation-project-key",
        find: "project_id === revocation.project_id || principal.project_id === revocation.project_id",
        put: "project_id === revocation.project_id",
        why: "A project's end closes streams of keys that are narrowed to it."
      },
      {
        id: "revocation-project-stream",
        find: "project_id === revocation.project_id || principal.project_id === revocation.project_id",
        put: "principal.project_id === revocation.project_id",
        why: "A project's end closes the project's streams."
      },
      {
        id: "revocation-branch",
        find: "principal.branch_id === revocation.branch_id",
        put: "principal.branch_id !== null",
        why: "A branch's end closes streams of that branch's keys only."
      },
      {
        id: "revocation-membership-user",
        find: '"user_id" in revocation && principal.user_id !== revocation.user_id) return false',
        put: '"user_id" in revocation && principal.user_id === revocation.user_id) return false',
        why: "The end of a membership concerns that member."
      },
      {
        id: "revocation-membership-org",
        find: 'return !("org_id" in revocation) || org_id === revocation.org_id',
        put: "return true",
        why: "The end of a membership concerns that organization's streams only."
      },
      {
        id: "revocation-user-everywhere",
        find: 'return !("org_id" in revocation) || org_id === revocation.org_id',
        put: 'return "org_id" in revocation && org_id === revocation.org_id',
        why: "A disabled account loses its streams in every organization."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/eventCatalog.ts",
    tests: ["packages/core/test/events/eventCatalog.test.ts"],
    faults: [
      {
        id: "catalog-member",
        find: '      version: "The version of its allowlist."\n',
        put: "",
        why: "The catalog has every member of an event."
      },
      {
        id: "catalog-optional",
        find: '"session_id?":',
        put: "session_id:",
        why: "The catalog says which members may be left out."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/InternalEvents.ts",
    tests: [
      "packages/core/test/events/streams/StreamAccess.narrow.test.ts",
      "packages/core/test/events/streams/StreamAccess.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts"
    ],
    faults: [
      {
        id: "revocation-not-internal",
        find: "event.internal && event.type === revokedType",
        put: "event.type === revokedType",
        why: "Only an internal event revokes."
      },
      {
        id: "revocation-type",
        find: "event.internal && event.type === revokedType ?",
        put: "event.internal ?",
        why: "Only a revocation revokes."
      },
      {
        id: "revocation-order",
        find: "Schema.Struct({ org_id: OrgId, user_id: UserId }),\n  Schema.Struct({ user_id: UserId }),",
        put: "Schema.Struct({ user_id: UserId }),\n  Schema.Struct({ org_id: OrgId, user_id: UserId }),",
        why: "A membership's revocation is not read as one of the whole account."
      },
      {
        id: "revocation-membership-scope",
        find: "internalEvent(org_id, null, revokedType, { org_id, user_id })",
        put: "internalEvent(org_id, null, revokedType, { user_id })",
        why: "The end of one membership leaves the user's others alone."
      }
    ]
  }
]
