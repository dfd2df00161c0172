/** Standbys of a data directory. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const standby: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/standby.ts",
    tests: ["packages/local-postgres/test/standby.test.ts"],
    faults: [
      {
        id: "standby-renews",
        find: "Effect.repeat(Effect.ignore(renew), Schedule.spaced(pause))",
        put: "Effect.ignore(renew)",
        why: "A holder renews its sign of life."
      }
    ]
  }
]
