/** The exit codes by name. `narthex help exit-codes` and the README print this table. `narthex psql` has psql's. */

export const exitCodes = {
  ok: { code: 0, meaning: "The command succeeded." },
  failed: { code: 1, meaning: "The command failed. The error is on standard error." },
  usage: { code: 2, meaning: "Invalid usage: an unknown command or flag, or a missing or invalid value." },
  declined: { code: 3, meaning: "A question was answered with no; nothing was changed." },
  signed_out: { code: 4, meaning: "Not signed in, or the server rejected the credential." },
  interrupted: { code: 130, meaning: "Interrupted, for example by Ctrl-C." }
} as const
