/** The exit codes, once: the code uses them by name, `narthex help exit-codes` and the README print this table. */

export const exitCodes = {
  ok: { code: 0, meaning: "The command did what it was asked." },
  failed: { code: 1, meaning: "The command failed; stderr says why." },
  usage: { code: 2, meaning: "The command was written wrong: an unknown word, a missing or unacceptable value." },
  signed_out: { code: 4, meaning: "Not signed in, or the credential was refused." },
  interrupted: { code: 130, meaning: "Interrupted, for example with Ctrl-C." }
} as const
