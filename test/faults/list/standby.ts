/** Standbys of a data directory. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const standby: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/standby.ts",
    tests: ["packages/local-postgres/test/standby.test.ts"],
    faults: [
      {
        id: "standby-kills",
        find: 'process.kill(holder, "SIGKILL")',
        put: "process.kill(holder, 0)",
        why: "A holder that is stopped does not keep the directory."
      },
      {
        id: "standby-sign",
        find: "seen.holder !== holder || seen.sign !== sign",
        put: "seen.holder !== holder",
        why: "A holder that works is not killed."
      },
      {
        id: "standby-renews",
        find: "Effect.repeat(Effect.ignore(renew), Schedule.spaced(pause))",
        put: "Effect.ignore(renew)",
        why: "A holder renews its sign of life."
      }
    ]
  }
]
