/** What the command line prints. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const commandLine: ReadonlyArray<FaultsOfFile> = [
  {
    area: "command-line",
    file: "packages/cli/src/output/wrapped.ts",
    tests: ["packages/cli/test/help.test.ts"],
    faults: [
      {
        id: "help-wide",
        find: "if (last === undefined || textWidth(longer) > width) lines.push(word)",
        put: "if (last === undefined) lines.push(word)",
        why: "A line of help is as wide as the terminal at most."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/renderTable.ts",
    tests: ["packages/cli/test/table.test.ts"],
    faults: [
      {
        id: "pipe-cut",
        find: "if (width === undefined || lineWidth(columns) <= width) return columns",
        put: "if (lineWidth(columns) <= (width ?? 80)) return columns\n  width ??= 80",
        why: "A table in a pipe has whole values."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/output/OutputFormat.ts",
    tests: ["packages/cli/test/usage.test.ts"],
    faults: [
      {
        id: "usage-format-of-operands",
        find: "const flags = operands === -1 ? args : args.slice(0, operands)",
        put: "const flags = operands === -1 ? args : [...args]",
        why: "Words after -- are no flags, so they choose no format of an error."
      }
    ]
  }
]
