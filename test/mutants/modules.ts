/**
 * The pure modules that decide something, with the tests that have to kill their mutants. `floor` is the share of mutants,
 * in percent, that these tests have killed: `npm run test:mutants` fails below it. Raise it with the tests.
 */
export interface Module {
  readonly tests: ReadonlyArray<string>
  readonly floor: number
}

/** Below `packages/core`: a file of `src`, and files of `test`. */
export const modules: Readonly<Record<string, Module>> = {
  "authorization/decide.ts": {
    tests: ["authorization/decide.test.ts", "authorization/decide.edges.test.ts"],
    floor: 90
  },
  "operations/desiredState.ts": { tests: ["operations/Operation.test.ts"], floor: 90 },
  "quotas/Quota.ts": { tests: ["quotas/Quota.test.ts"], floor: 88 }
}
