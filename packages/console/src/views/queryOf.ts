/** `?name=value&…` of the fields that are not empty; `""`: there are none. */
export const queryOf = (fields: Readonly<Record<string, string>>): string => {
  const named = Object.entries(fields).filter(([, value]) => value !== "")
  return named.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(named))}`
}
