/** The columns of the matrix, and the callers that the page derives from them. */

/** As on the page: no credential, a bad one, pending, ex-member, the four roles, the keys of an owner. */
export const columns = ["-", "!", "P", "X", "O", "A", "M", "V", "KW", "KP", "KB", "KR", "KA"] as const
export type Column = (typeof columns)[number]

/**
 * Callers without a column: the key that ended with its creator's membership, the key of a pending account, and the
 * read and agent keys of a project and of a branch.
 */
export const derived = ["XK", "PK", "KRP", "KRB", "KAP", "KAB"] as const
export type Principal = Column | (typeof derived)[number]

export const principals: ReadonlyArray<Principal> = [...columns, ...derived]

export const isKey = (principal: Principal) => principal.startsWith("K") || principal === "XK" || principal === "PK"

/** Whose scope is narrower than the organization, and which column tells how. */
export const narrowOf = (principal: Principal): "KP" | "KB" | undefined => {
  if (principal === "KP" || principal === "KRP" || principal === "KAP") return "KP"
  return principal === "KB" || principal === "KRB" || principal === "KAB" ? "KB" : undefined
}

/** The column of the same capability with the scope of the organization. */
export const wideOf = (principal: Principal): "KW" | "KR" | "KA" =>
  principal.startsWith("KR") ? "KR" : principal.startsWith("KA") ? "KA" : "KW"
