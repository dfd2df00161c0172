/** What the command line shows on a terminal. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const terminal: ReadonlyArray<FaultsOfFile> = [
  {
    area: "command-line",
    file: "packages/cli/src/following/followChange.ts",
    tests: ["packages/cli/test/branches.test.ts"],
    faults: [
      {
        id: "wait-prints-before",
        find: "yield* print(yield* Effect.onError(present, () => Effect.ignore(print(changed))))",
        put: "yield* print(changed)\n  yield* present",
        why: "`--wait` prints the state after the waiting."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/following/followChange.ts",
    tests: ["packages/cli/test/followChange.test.ts"],
    faults: [
      {
        id: "wait-fails-with-the-last-read",
        find: "Effect.catch(() => Effect.as(output.note(notReadAgain), changed))",
        put: "Effect.catch(Effect.fail)",
        why: "A finished operation is a success, also where the state cannot be read again."
      },
      {
        id: "wait-last-read-without-bound",
        find: "Math.max(1, Math.min(left, longestRead))",
        put: "91_000",
        why: "`--timeout` bounds the last read, too."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/inOneRow.ts",
    tests: ["packages/cli/test/progress.test.ts"],
    faults: [
      {
        id: "progress-several-rows",
        find: "cut(text, Math.max(1, columns - reserved - textWidth(more))) + more",
        put: "text + more",
        why: "Progress is one row of the terminal."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/renderHelp.ts",
    tests: ["packages/cli/test/help.test.ts"],
    faults: [
      {
        id: "choices-twice",
        find: 'term.includes("|") ? given',
        put: 'term.includes("||") ? given',
        why: "The choices of a flag are listed once."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/completion/scripts.ts",
    tests: ["packages/cli/test/shells.test.ts"],
    faults: [
      {
        id: "zsh-word-lost",
        find: "{(@)words[2,CURRENT]}",
        put: "{words[2,CURRENT]}",
        why: "Each word of the line is a word for narthex."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/input/confirm.ts",
    tests: ["packages/cli/test/ipAllow.test.ts"],
    faults: [
      {
        id: "question-line-open",
        find: "if (Option.isNone(line)) yield* output.endLine",
        put: "",
        why: "What follows a question has a line of its own, also after Ctrl-D."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/relativeTime.ts",
    tests: ["packages/cli/test/table.test.ts"],
    faults: [
      {
        id: "future-rounded-down",
        find: "inWords(distance, Math.round)",
        put: "inWords(distance, Math.floor)",
        why: "What was created with `--ttl 8h` expires in 8 h."
      }
    ]
  }
]
