/** The host's own calls of the library. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const narthex: ReadonlyArray<FaultsOfFile> = [
  {
    area: "host",
    file: "packages/narthex/src/host/transaction.ts",
    tests: ["packages/narthex/test/transaction.test.ts"],
    faults: [
      {
        id: "transaction-elsewhere",
        find: "during(makeRun(context, closed))",
        put: "during(run)",
        why: "Calls of the callback run inside the host's transaction."
      },
      {
        id: "transaction-floating",
        find: "onSuccess: (value) => Effect.as(refuseLate, value)",
        put: "onSuccess: (value) => Effect.succeed(value)",
        why: "A call that the callback did not await is not told to be done."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/server/routesOnDemand.ts",
    tests: ["packages/narthex/test/routes.test.ts"],
    faults: [
      {
        id: "routes-once",
        find: "routes ??= start()",
        put: "routes = start()",
        why: "The routes are built once."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/server/FetchServer.ts",
    tests: ["packages/narthex/test/routes.test.ts"],
    faults: [
      {
        id: "routes-serving",
        find: "  yield* Layer.build(layerServing)\n",
        put: "",
        why: "Reports of proxies can be received before the first request."
      },
      {
        id: "handler-located-below",
        find: `"location", \`\${prefix}\${location}\``,
        put: `"location", location`,
        why: "`Location` begins with the base path.",
        tests: ["packages/narthex/test/mounting.test.ts"]
      },
      {
        id: "handler-after-the-end",
        find: "      closed\n        ? Promise.resolve",
        put: "      false\n        ? Promise.resolve",
        why: "After the end every call is answered 503.",
        tests: ["packages/narthex/test/mounting.test.ts"]
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/failures/Form.ts",
    tests: ["packages/narthex/test/arguments.test.ts", "packages/narthex/test/options.test.ts"],
    faults: [
      {
        id: "form-misspelt-member",
        find: "Object.keys(given).find((name) => !Object.hasOwn(members, name))",
        put: "Object.keys(given).find((name) => name in members && !Object.hasOwn(members, name))",
        why: "A member that does not exist is refused."
      },
      {
        id: "form-forgotten-id",
        find: "if (form.absent === true && !(name in given)) continue",
        put: "if (form.absent === true && given[name] === undefined) continue",
        why: "A project's id that is undefined does not subscribe to the whole organization."
      },
      {
        id: "form-empty-instance",
        find: "return literal || Object.keys(it).length > 0",
        put: "return literal || it instanceof Object",
        why: "A target without members of its own does not ask for the whole organization."
      },
      {
        id: "form-holes",
        find: "Array.isArray(it) && Array.from<unknown>(it).every(has)",
        put: "Array.isArray(it) && it.every(has)",
        why: "An array with holes is refused."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/host/follow.ts",
    tests: ["packages/narthex/test/arguments.test.ts"],
    faults: [
      {
        id: "follow-unknown-project",
        find: "if (project_id !== null) yield*",
        put: "if (project_id === undefined) yield*",
        why: "A subscription to a project that does not exist fails instead of waiting."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/layerHttp.ts",
    tests: ["packages/narthex/test/effect.test.ts"],
    faults: [
      {
        id: "mounted-forever",
        find: "!Duration.isFinite(grace) || ",
        put: "",
        why: "A grace without an end is refused, because the process would not end."
      }
    ]
  },
  {
    area: "host",
    file: "packages/http/src/Draining.ts",
    tests: ["examples/effect/effect.test.ts"],
    faults: [
      {
        id: "draining-late",
        find: "Effect.andThen(draining.begin, streams.drain(Duration.times(grace, 0.5)))",
        put: "draining.begin",
        why: "Event streams end before the listener waits for their connections."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/ControlPlane.ts",
    tests: ["packages/narthex/test/life.test.ts"],
    faults: [
      {
        id: "closed-client-waits",
        find: "closed.signal.aborted ? Promise.reject(closedFailure()) : called(request)",
        put: "called(request)",
        why: "A client of a closed control plane fails at once."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/options/postgresFailure.ts",
    tests: ["packages/narthex/test/postgres.test.ts"],
    faults: [
      {
        id: "start-any-url",
        find: ".test(url) && URL.canParse(url)",
        put: ".test(url)",
        why: "A URL that is malformed is an option to correct, and the option that has it is named."
      }
    ]
  },
  {
    area: "host",
    file: "packages/postgres/src/database/whyUnusable.ts",
    tests: ["packages/narthex/test/postgres.test.ts"],
    faults: [
      {
        id: "start-shows-password",
        find: 'const said = secret || text === "" ?',
        put: 'const said = text === "" ?',
        why: "What the server says is not passed on where it has the password."
      },
      {
        id: "start-without-tls",
        find: 'text === "The server does not support TLS" ? noTls',
        put: 'text === "" ? noTls',
        why: "A server without TLS that the URL asks for is an option to correct."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/options/Storage.ts",
    tests: ["packages/narthex/test/postgres.test.ts"],
    faults: [
      {
        id: "listen-elsewhere",
        find: "if (here?.database === there?.database &&",
        put: "if (here?.database !== undefined || there?.database !== undefined ||",
        why: "The URL for LISTEN leads to the database of the storage."
      }
    ]
  },
  {
    area: "host",
    file: "packages/narthex/src/host/clientForms.ts",
    tests: ["packages/narthex/test/arguments.test.ts", "packages/narthex/test/clients.test.ts"],
    faults: [
      {
        id: "fetch-hangs",
        find: "(it.headers instanceof Headers || everyOf([...it.headers], isPair))",
        put: "it.headers !== null",
        why: "A request whose headers cannot be read is refused instead of never answered."
      },
      {
        id: "client-any-retries",
        find: "orElse(off, objectOf(retries))",
        put: "orElse(off, record)",
        why: "A misspelt member of retries is refused."
      }
    ]
  },
  {
    area: "host",
    file: "packages/api/src/client/promises/givenOptions.ts",
    tests: ["packages/api/test/client/arguments.test.ts"],
    faults: [
      {
        id: "client-follows-everything",
        find: "project_id: Schema.optionalKey(id)",
        put: "project_id: Schema.optional(id)",
        why: "A project's id that is undefined does not subscribe to the whole organization."
      },
      {
        id: "client-loses-headers",
        find: '!hasFunctions(value, "forEach") &&',
        put: "",
        why: "Headers that would not be sent are refused."
      }
    ]
  },
  {
    area: "host",
    file: "packages/core/src/host-events/HostEvents.ts",
    tests: ["packages/core/test/host-events/HostEvents.test.ts"],
    faults: [
      {
        id: "schema-failure-internal",
        find: 'return Effect.fail(new EventRefused({ code: "event_data_invalid", reason, cause }))',
        put: "return Effect.die(cause)",
        why: "A schema that fails is a refusal with a code."
      }
    ]
  },
  {
    area: "host",
    file: "packages/core/src/Transaction.ts",
    tests: ["packages/core/test/events/EventLog.test.ts"],
    faults: [
      {
        id: "event-unstorable",
        find: "const data = loggedData(event.data)",
        put: "const data = event.data",
        why: "An event has only text that every storage can hold."
      }
    ]
  },
  {
    area: "host",
    file: "packages/core/src/keys/KeyUses.ts",
    tests: ["packages/narthex/test/storable.test.ts"],
    faults: [
      {
        id: "key-address-unstorable",
        find: "from: from === null ? null : described(from)",
        put: "from",
        why: "An address that storage cannot hold does not lose the last use of a key."
      }
    ]
  }
]
