/** The environment of a process that this one starts: its own, with other values of some variables. */
export const childEnvironment = (
  changed: Readonly<Record<string, string | undefined>>
): Record<string, string | undefined> => ({ ...process.env, ...changed })
