/** Every planted fault: mistakes that no mutation tool makes, in statements, races, rights, packets and the decision. */
import { decision } from "./list/decision.ts"
import { log } from "./list/log.ts"
import { packets } from "./list/packets.ts"
import { races } from "./list/races.ts"
import { roles } from "./list/roles.ts"
import { statements } from "./list/statements.ts"
import { type Fault, faultsOf } from "./runner/Fault.ts"

export const faults: ReadonlyArray<Fault> = faultsOf([
  ...decision,
  ...log,
  ...packets,
  ...races,
  ...roles,
  ...statements
])
