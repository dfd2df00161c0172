/** The attacks of a run. */
import type { Attack } from "./Attack.ts"
import { creations } from "./creations.ts"
import { reads } from "./reads.ts"
import { sessions } from "./sessions.ts"
import { strangers } from "./strangers.ts"

const kinds: Readonly<Record<string, ReadonlyArray<Attack>>> = { calls: [...creations, ...reads], sessions, strangers }

/**
 * All of them, or the kinds that `NARTHEX_TEST_HOSTILE_ATTACKS` names, separated by commas. Beside sessions, which take the CPU
 * that the attackers have, there are a tenth as many calls as without them.
 */
const chosen = process.env["NARTHEX_TEST_HOSTILE_ATTACKS"]?.split(",") ?? Object.keys(kinds)

export const attacks: ReadonlyArray<Attack> = chosen.flatMap((name) => {
  const kind = kinds[name]
  if (kind === undefined) throw new Error(`NARTHEX_TEST_HOSTILE_ATTACKS: ${name} is not one of ${Object.keys(kinds)}.`)
  return kind
})
