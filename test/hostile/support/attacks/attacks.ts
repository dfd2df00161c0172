/** All attacks. */
import type { Attack } from "./Attack.ts"
import { creations } from "./creations.ts"
import { reads } from "./reads.ts"
import { sessions } from "./sessions.ts"
import { strangers } from "./strangers.ts"

export const attacks: ReadonlyArray<Attack> = [...creations, ...reads, ...sessions, ...strangers]
