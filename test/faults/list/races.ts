/** Two at once, a worker that died, and what comes back late. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const races: ReadonlyArray<FaultsOfFile> = [
  {
    area: "operations",
    file: "packages/core/src/rules/operations/desiredState.ts",
    tests: ["packages/core/test/projects/endpointSizes.test.ts"],
    faults: [
      {
        id: "size-start-begun",
        find: '!Option.exists(by, ({ status }) => status === "scheduling")',
        put: "Option.isNone(by)",
        why: "A size that changes while the compute starts is followed by another start."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/runner/makePerformer.ts",
    tests: ["packages/core/test/runner/OperationRunner.claims.test.ts"],
    faults: [
      {
        id: "claimed-not-begun",
        find: "const begins = isNew && ",
        put: "const begins = !isNew && ",
        why: "A start that is claimed as it is scheduled begins in the same transaction."
      },
      {
        id: "runner-held-fence",
        find: "it.lease_owner === worker && it.fence === operation.fence && !isFinal",
        put: "it.lease_owner === worker && !isFinal",
        why: "A worker that claimed an operation again records nothing for its earlier claim.",
        tests: ["packages/core/test/runner/OperationRunner.bounds.test.ts"]
      },
      {
        id: "runner-take-over-begins",
        find: 'if (row.status !== "scheduling") return { operation: row, go: true }',
        put: "",
        why: "An operation that is taken over does not begin twice.",
        tests: ["packages/core/test/runner/OperationRunner.lease.test.ts"]
      },
      {
        id: "runner-lease-third",
        find: "Duration.times(lease, 1 / 3)",
        put: "Duration.times(lease, 2)",
        why: "A lease is extended before it ends.",
        tests: ["packages/core/test/runner/OperationRunner.lease.test.ts"]
      },
      {
        id: "runner-fail-gives-up",
        find: "yield* actions[row.action].giveUp(row)\n        yield* operations.move(row, next",
        put: "yield* operations.move(row, next",
        why: "An operation that failed leaves nothing pending.",
        tests: ["packages/core/test/runner/OperationRunner.failures.test.ts"]
      },
      {
        id: "runner-undo",
        find: 'if ((yield* decide(operation, failure)).kind === "end") yield* undone(operation)\n',
        put: "",
        why: "A start that failed for good leaves no compute that no record shows.",
        tests: ["packages/core/test/runner/OperationRunner.bounds.test.ts"]
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/runner/OperationRunner.ts",
    tests: ["packages/core/test/runner/OperationRunner.claims.test.ts"],
    faults: [
      {
        id: "claimed-unperformed",
        find: 'if (scope.state._tag === "Closed") return Effect.ignore(performer.giveBack(operation))',
        put: "",
        why: "A start that a stopped runner has claimed is given back."
      }
    ]
  },
  {
    area: "operations",
    file: "packages/core/src/runner/afterFailure.ts",
    tests: [
      "packages/core/test/runner/OperationRunner.lease.test.ts",
      "packages/core/test/runner/OperationRunner.test.ts",
      "packages/core/test/runner/OperationRunner.failures.test.ts",
      "packages/core/test/runner/OperationRunner.bounds.test.ts",
      "packages/core/test/runner/OperationRunner.promises.test.ts",
      "packages/core/test/runner/OperationRunner.order.test.ts",
      "packages/core/test/runner/OperationRunner.crashes.test.ts",
      "packages/core/test/runner/OperationRunner.loop.test.ts",
      "packages/core/test/operations/Operation.test.ts"
    ],
    faults: [
      {
        id: "runner-endless",
        find: "endless || (failure.retryable && failures_count <= retries)",
        put: "failure.retryable && failures_count <= retries",
        why: "A revocation is tried until it has succeeded."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/services/projects/Endpoints.ts",
    tests: ["test/races/agentEndpoints.test.ts"],
    faults: [
      {
        id: "endpoint-agent-again",
        find: "if (isAgent(caller)) {",
        put: "if (false) {",
        why: "An agent's change of an endpoint is decided again under the branch's lock."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/services/keys/ApiKeys.ts",
    tests: ["packages/core/test/keys/ApiKeys.test.ts", "packages/core/test/keys/newSecrets.test.ts"],
    faults: [
      {
        id: "key-scope-gone",
        find: "          yield* lockScope(org, wanted.scope)\n",
        put: "",
        why: "A key is not made for what has just ended."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/ClusterData.ts",
    tests: ["packages/local-postgres/test/ClusterData.test.ts"],
    faults: [
      {
        id: "data-former-killed",
        find: "if (yield* hasData(cluster)) return yield* discard(cluster, former)",
        put: "return yield* discard(cluster, former)",
        why: "A branch whose reset was killed between two renames has its data."
      },
      {
        id: "data-unseen",
        find: "lstatSync(path, { throwIfNoEntry: false }) !== undefined",
        put: "[lstatSync].every((look) => { try { look(path); return true } catch { return false } })",
        why: "A disk that fails for a moment does not have data replaced by empty ones."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/walSegments.ts",
    tests: ["packages/local-postgres/test/walSegments.test.ts"],
    faults: [
      {
        id: "wal-last-segment",
        find: "const [one, end] = [from / bytes, (to - 1n) / bytes]",
        put: "const [one, end] = [from / bytes, from / bytes + (to - 1n - from) / bytes]",
        why: "A copy has the segment in which its backup ends."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/ClusterBackup.ts",
    tests: ["packages/local-postgres/test/ClusterBackup.test.ts"],
    faults: [
      {
        id: "backup-recycled",
        find: "if (segment !== undefined) return yield* new WalRecycled({ segment })",
        put: "",
        why: "A copy whose WAL was recycled meanwhile is not taken for complete."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/control-plane/EndpointCache.ts",
    tests: ["packages/proxy/test/control-plane/EndpointCache.test.ts"],
    faults: [
      {
        id: "cuts-earlier-answer",
        find: "flights.again(endpoint_id",
        put: "flights.join(endpoint_id",
        why: "An answer to a question from before the notification may be that of before the change."
      },
      {
        id: "cuts-while-opening",
        find: "if (mayHaveChanged(connected)) soon(endpoint_id)",
        put: "",
        why: "A change while a connection is opened cuts it too."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/control-plane/followChanges.ts",
    tests: ["packages/proxy/test/control-plane/EndpointCache.test.ts"],
    faults: [
      {
        id: "cuts-missed-notifications",
        find: "endpoints.reload()\n",
        put: "",
        why: "Notifications are missed while there is no subscription."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/compute/Computes.ts",
    tests: ["packages/proxy/test/compute/Computes.test.ts"],
    faults: [
      {
        id: "woken-before",
        find: "last !== undefined && last.at >= asked_at ?",
        put: "last !== undefined ?",
        why: "A wake from before the endpoint was resolved says nothing about where the compute is now."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/records/events/EventFeed.ts",
    tests: [
      "packages/core/test/events/EventFeed.test.ts",
      "packages/core/test/events/streams/EventStreams.test.ts",
      "packages/core/test/events/streams/EventBroker.ends.test.ts"
    ],
    faults: [
      {
        id: "feed-head-past",
        find: "known.id === from.id ? batch : undefined",
        put: "batch",
        why: "A log that went back and is past its former head begins again."
      },
      {
        id: "feed-hole",
        find: "if (hole) subscriber.restart?.(from.pos)",
        put: "",
        why: "Streams do not go on over a hole in the log."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/services/events/streams/EventBroker.ts",
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
        id: "broker-attach-revoked",
        find: 'if (revoked) stream.end("revoked")',
        put: "",
        why: "A client whose right ended on the way gets no stream."
      },
      {
        id: "broker-unreadable",
        find: "onNone: () => true, onSome: (it) => revokes",
        put: "onNone: () => false, onSome: (it) => revokes",
        why: "A revocation that cannot be read ends every stream that it might mean."
      }
    ]
  }
]
