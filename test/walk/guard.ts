/** `node guard.ts <walk as JSON>`: waits for the end of standard input, then removes what is left of the walk. */
import { clearUp, type Walk } from "./leftovers.ts"

const walk: Walk = JSON.parse(process.argv[2] ?? "")
process.stdin.resume().once("end", () => void clearUp(walk))
