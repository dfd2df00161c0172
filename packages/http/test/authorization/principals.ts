/** The columns of the matrix, and the callers that are derived from them. The legend is in `rows/cells.ts`. */

/** No credential, an invalid one, sessions of a pending account, a former member and the four roles, an owner's keys. */
export const columns = ["-", "!", "P", "X", "O", "A", "M", "V", "KW", "KP", "KB", "KR", "KA"] as const
export type Column = (typeof columns)[number]

/**
 * Callers without a column: `XK`, a key that ended with its creator's membership; `PK`, a key of a pending account; and
 * `read` and `agent` keys of a project (`KRP`, `KAP`) and of a branch (`KRB`, `KAB`).
 */
export const derived = ["XK", "PK", "KRP", "KRB", "KAP", "KAB"] as const
export type Principal = Column | (typeof derived)[number]

export const principals: ReadonlyArray<Principal> = [...columns, ...derived]

export const isKey = (principal: Principal) => principal.startsWith("K") || principal === "XK" || principal === "PK"

/** The column with the same scope, for keys that are narrower than the organization. */
export const narrowOf = (principal: Principal): "KP" | "KB" | undefined => {
  if (principal === "KP" || principal === "KRP" || principal === "KAP") return "KP"
  return principal === "KB" || principal === "KRB" || principal === "KAB" ? "KB" : undefined
}

/** The column with the same capability and the scope organization. */
export const wideOf = (principal: Principal): "KW" | "KR" | "KA" =>
  principal.startsWith("KR") ? "KR" : principal.startsWith("KA") ? "KA" : "KW"
