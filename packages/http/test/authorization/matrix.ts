/**
 * The matrix of docs/design/authorization.md as data: its rows, and the calls of each row. The legend is in
 * `rows/cells.ts`.
 */
import { branches } from "./rows/branches.ts"
import type { Row } from "./rows/cells.ts"
import { outside } from "./rows/outside.ts"
import { people } from "./rows/people.ts"
import { projects } from "./rows/projects.ts"

export const matrix: ReadonlyArray<Row> = [...outside, ...people, ...projects, ...branches]

/** Every row of docs/design/authorization.md but row 0, which is every call below row 1 by a disabled user. */
export const rowsOfThePage =
  "1 2 3 4 4b 5 6 7 7b 8 9 10 11 11b 12 13 13b 13c 13d 13e 14 14b 15 16 17 17b 17c 18 19 20 21 21b 21c 21d 22 22b 22c 23 24 25 25b 25c 26".split(
    " "
  )
