/** The broker and its fan-out. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const eventBroker: ReadonlyArray<FaultsOfFile> = [
  {
    area: "events",
    file: "packages/core/src/events/streams/EventBroker.ts",
    tests: [
      "packages/core/test/events/streams/EventBroker.loads.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts"
    ],
    faults: [
      {
        id: "broker-revoke-admission",
        find: "for (const admission of admissions) if (concerned(admission.access)) admission.revoke()",
        put: "",
        why: "A revocation reaches clients on their way to a stream."
      },
      {
        id: "broker-revoke-pump",
        find: "stream.pump(FlushBudget.unlimited(host)) // events from before the revocation are still sent",
        put: "",
        why: "A stream gets what was committed before its revocation."
      },
      {
        id: "broker-revoke-all",
        find: "if (!concerned(stream.access)) continue",
        put: "",
        why: "A revocation ends only those that it concerns."
      },
      {
        id: "broker-deliver-order",
        find: "fanouts.get(event.org_id)?.append(event)\n            const revocation = revocationOf(event)\n            if (Option.isNone(revocation)) continue",
        put: "const revocation = revocationOf(event)\n          if (Option.isNone(revocation)) {\n            fanouts.get(event.org_id)?.append(event)\n            continue\n          }",
        why: "A revocation takes its place in the ring like every event."
      },
      {
        id: "broker-unreadable",
        find: "onNone: () => true, onSome: (it) => revokes",
        put: "onNone: () => false, onSome: (it) => revokes",
        why: "A revocation that cannot be read ends every stream that it might mean."
      },
      {
        id: "broker-cancel",
        find: "if (admissions.delete(admission)) limits.give(access)",
        put: "admissions.delete(admission)",
        why: "A cancelled admission gives its place back."
      },
      {
        id: "broker-cancel-twice",
        find: "if (admissions.delete(admission)) limits.give(access)",
        put: "limits.give(access)",
        why: "A cancelled admission gives its place back once."
      },
      {
        id: "broker-late-load",
        find: "if (fanouts.get(org) !== fanout) return false",
        put: "",
        why: "A window that was asked for before a restart makes no ring."
      },
      {
        id: "broker-restart-ends",
        find: 'for (const stream of streams) stream.end("log_reset")',
        put: "",
        why: "A restart of the log ends the streams of before."
      },
      {
        id: "broker-restart-rings",
        find: "          fanouts.clear()\n",
        put: "",
        why: "A restart of the log gives up the rings of before."
      },
      {
        id: "broker-attach-revoked",
        find: 'if (revoked) stream.end("revoked")',
        put: "",
        why: "A client whose right ended on the way gets no stream."
      },
      {
        id: "broker-attach-expired",
        find: "expires_at.epochMilliseconds <= scheduler.now()",
        put: "expires_at.epochMilliseconds <= 0",
        why: "A client whose credential has ended learns nothing of the log."
      },
      {
        id: "broker-attach-learns",
        find: "revoked || expired // it",
        put: "expired // it",
        why: "A revoked client learns nothing of the log."
      },
      {
        id: "broker-attach-stale",
        find: "if (fanout?.ring !== ring) return Option.none()",
        put: "if (fanout === undefined) return Option.none()",
        why: "No stream reads a ring that was given up."
      },
      {
        id: "broker-end-place",
        find: "if (!streams.delete(stream)) return\n          limits.give(stream.access)",
        put: "if (!streams.delete(stream)) return",
        why: "An ended stream gives its place back."
      },
      {
        id: "broker-memory-idle",
        find: "it.ring !== undefined && it.streams.size === 0 &&",
        put: "it.ring !== undefined &&",
        why: "A ring with readers is not given up for memory."
      },
      {
        id: "broker-memory-wanted",
        find: "&& !wanted.has(it.org))",
        put: ")",
        why: "A ring that a client is about to use is not given up for memory."
      },
      {
        id: "broker-memory-order",
        find: "sort((a, b) => a.usedAt - b.usedAt)",
        put: "sort((a, b) => b.usedAt - a.usedAt)",
        why: "The ring that was used least recently goes first."
      },
      {
        id: "broker-memory-enough",
        find: "if (memory <= settings.rings_bytes) break",
        put: "",
        why: "No more rings are given up than the memory needs."
      },
      {
        id: "broker-drained",
        find: "if (stream.ready) fanouts.get(stream.access.org_id)?.offer()",
        put: "",
        why: "A stream that drained and has more to take is served again."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/revalidate.ts",
    tests: ["packages/core/test/events/streams/EventStreams.test.ts"],
    faults: [
      {
        id: "revalidate-all",
        find: "due.set(stream, Number.NEGATIVE_INFINITY)",
        put: "due.set(stream, Number.POSITIVE_INFINITY)",
        why: "After an outage of the log every stream's right is looked up again."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/streams/OrgFanout.ts",
    tests: [
      "packages/core/test/events/streams/EventBroker.loads.test.ts",
      "packages/core/test/events/streams/EventBroker.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts"
    ],
    faults: [
      {
        id: "fanout-load-delivered",
        find: "if (event.pos <= delivered) ring.append(event)",
        put: "ring.append(event)",
        why: "A ring holds nothing that was not delivered yet."
      },
      {
        id: "fanout-load-queue",
        find: "for (const event of this.#queue.splice(0)) ring.append(event)",
        put: "this.#queue.splice(0)",
        why: "Events that came during the load are in the ring."
      },
      {
        id: "fanout-queue",
        find: "this.#queue.push(event)\n",
        put: "",
        why: "Events wait while the ring is loading."
      },
      {
        id: "fanout-crowded-flush",
        find: "this.streams.size > 0 && this.#crowded(ring)",
        put: "this.streams.size > 0 && !this.#crowded(ring) && false",
        why: "A burst does not overrun readers that keep up."
      },
      {
        id: "fanout-flush-again",
        find: "if (this.#dirty) this.#schedule()",
        put: "",
        why: "Events that came during a pass are offered by another one."
      },
      {
        id: "fanout-spent",
        find: "        this.#schedule()\n        return\n",
        put: "        return\n",
        why: "A pass that gave way goes on."
      },
      {
        id: "fanout-hungry",
        find: "this.#current = next.ready ? next : undefined",
        put: "this.#current = undefined",
        why: "A pass serves each stream until it has everything."
      }
    ]
  }
]
