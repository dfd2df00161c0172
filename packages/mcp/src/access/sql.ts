/**
 * Runs SQL on a branch: on *main* always with a credential that only reads, elsewhere with one that writes if the key may
 * have it. The database enforces it; nothing here reads the statement.
 */
import { Effect } from "effect"
import { runStatement } from "../sql/runStatement.ts"
import type { Outcome, Statement } from "../sql/statement.ts"
import { Caller } from "./Caller.ts"
import { type Access, DatabaseCredentials } from "./DatabaseCredentials.ts"
import { refusedSql } from "./explain.ts"
import { type FoundBranch, isMain } from "./names.ts"
import { Refused } from "./Refused.ts"

/** The longest that a call waits for a statement: a compute may have to start first. */
export const longestCall = "100 seconds"

const late = new Refused({
  rule: "time_limit",
  reason: "The database did not answer in time.",
  allowed: "a statement that ends within 30 seconds."
})

/** The rules by which minting is refused to a key without the right to write. */
const mayNotWrite = ["capability_insufficient", "role_insufficient"]

export const makeRunSql = Effect.map(DatabaseCredentials, ({ using }) =>
  Effect.fn("runSql")(function* (
    branch: FoundBranch,
    statement: Statement
  ): Effect.fn.Return<Outcome & { readonly access: Access }, Refused, Caller> {
    const { dial } = yield* Caller
    const main = isMain(branch)
    const as = (access: Access) =>
      Effect.map(
        using(branch, access, (target) => runStatement(target, dial, statement)),
        (outcome) => ({ ...outcome, access })
      )
    const chosen = main
      ? as("read_only")
      : Effect.catchIf(
          as("read_write"),
          (failure) => failure._tag === "Refused" && mayNotWrite.includes(failure.rule),
          () => as("read_only")
        )
    return yield* chosen.pipe(
      Effect.mapError((failure) => (failure._tag === "Refused" ? failure : refusedSql(failure, main))),
      Effect.timeoutOrElse({ duration: longestCall, orElse: () => Effect.fail(late) })
    )
  })
)

export type RunSql = Effect.Success<typeof makeRunSql>
