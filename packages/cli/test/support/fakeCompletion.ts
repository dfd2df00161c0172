/** A `narthex __complete` that knows three words, and quotes them as narthex does. */
import { candidateLines, type Shell, wordsFrom } from "../../src/completion/scripts.ts"

const known = ["my shop", "team:shop", "--output=json"]

const [, shell, ...args] = process.argv.slice(2)
// The scripts name their own shell.
const from = shell as Shell
const typed = wordsFrom(from, args).at(-1) ?? ""
const fitting = known.filter((value) => value.startsWith(typed)).map((value) => ({ value, description: "" }))
process.stdout.write(`${candidateLines(from, fitting, args.at(-1))}\n`)
