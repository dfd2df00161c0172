/**
 * The matrix of docs/design/authorization.md: its rows, and the calls of each row. The legend is in `rows/cells.ts`, and
 * `scripts/matrix.ts` makes the table of the page.
 */
import { branches } from "./rows/branches.ts"
import type { Row } from "./rows/cells.ts"
import { outside } from "./rows/outside.ts"
import { people } from "./rows/people.ts"
import { projects } from "./rows/projects.ts"

export const matrix: ReadonlyArray<Row> = [...outside, ...people, ...projects, ...branches]
