/** The sessions of an endpoint that is suspended, disabled or deleted, and the roles of a deleted branch. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const notifying = ["packages/core/test/provisioning/Endpoints.test.ts"]

export const endpointCuts: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/control-plane/EndpointCache.ts",
    tests: ["packages/proxy/test/control-plane/EndpointCache.test.ts"],
    faults: [
      {
        id: "cuts-without-notification",
        find: "if (watched.has(endpoint_id)) soon(endpoint_id)",
        put: "",
        why: "A notification makes the proxy resolve the endpoint again."
      },
      {
        id: "cuts-earlier-answer",
        find: "flights.again(endpoint_id",
        put: "flights.join(endpoint_id",
        why: "An answer to a question from before the notification may be that of before the change."
      },
      {
        id: "cuts-earlier-start",
        find: 'current_state === "idle" || (latest !== null && latest > generation)',
        put: 'current_state === "idle"',
        why: "Sessions of an earlier start end although the endpoint runs again."
      },
      {
        id: "cuts-present-start",
        find: "latest > generation",
        put: "latest >= generation",
        why: "Sessions of the present start stay."
      },
      {
        id: "cuts-next-start",
        find: "if (since >= question) continue",
        put: "",
        why: "A connection that began after the question may be one to the next start of the compute."
      },
      {
        id: "cuts-after-a-look",
        find: "group.least = Math.min(group.least, generation)\n        watched",
        put: "watched",
        why: "A connection to an earlier start is found, also if those before it were to a later one."
      },
      {
        id: "cuts-while-opening",
        find: "if (mayHaveChanged(connected)) soon(endpoint_id)",
        put: "",
        why: "A change while a connection is opened cuts it too."
      },
      {
        id: "cuts-while-opening-deleted",
        find: "!known.has(endpoint_id) || Math.max",
        put: "Math.max",
        why: "An endpoint of which nothing is known any more is resolved again."
      },
      {
        id: "cuts-first-question",
        find: "known.has(endpoint_id) || asking.has(endpoint_id)",
        put: "known.has(endpoint_id)",
        why: "A change during the first question about an endpoint is noticed."
      },
      {
        id: "cuts-no-retry",
        find: "times: 5",
        put: "times: 0",
        why: "A question after a notification is repeated until it is answered."
      },
      {
        id: "cuts-repeated",
        find: "if (waiting.has(endpoint_id)) return",
        put: "",
        why: "Notifications of one endpoint share a question that has not begun."
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
      },
      {
        id: "lists-reconnect",
        find: "yield* allowlists.reload\n",
        put: "",
        why: "After each reconnect the lists are requested again.",
        tests: ["packages/proxy/test/control-plane/AllowlistCache.edges.test.ts"]
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/http/src/events/proxyChanges.ts",
    tests: ["packages/http/test/events/proxyChanges.test.ts"],
    faults: [
      {
        id: "cuts-not-streamed",
        find: 'Option.map(endpointChangeOf(event), frame("endpoint"))',
        put: "Option.none()",
        why: "Changes of endpoints are frames of the stream for proxies."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/core/src/provisioning/Endpoints.ts",
    tests: notifying,
    faults: [
      {
        id: "cuts-disabled-unannounced",
        find: "yield* emit(endpointChanged(project.org_id, project.id, { endpoint_id: given.id }))",
        put: "",
        why: "A disabled endpoint notifies the proxies."
      },
      {
        id: "cuts-deleted-unannounced",
        find: "yield* emit(endpointChanged(project.org_id, project.id, { endpoint_id: endpoint.id }))",
        put: "",
        why: "A deleted endpoint notifies the proxies."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/core/src/provisioning/endBranch.ts",
    tests: notifying,
    faults: [
      {
        id: "cuts-branch-unannounced",
        find: "yield* emit(endpointChanged(project.org_id, project.id, { endpoint_id }))",
        put: "",
        why: "The endpoints of a deleted branch notify the proxies."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/core/src/runner/actions/suspendCompute.ts",
    tests: notifying,
    faults: [
      {
        id: "cuts-suspended-unannounced",
        find: "if (endpoint_id !== null) yield* (yield* Transaction).emit(",
        put: "if (endpoint_id === null) yield* (yield* Transaction).emit(",
        why: "A suspended endpoint notifies the proxies."
      }
    ]
  }
]
