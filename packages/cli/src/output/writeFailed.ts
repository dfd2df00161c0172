/** Reports that a write to standard output failed. The lost output may have had a secret. */
export const writeFailed = (message: string): void => {
  process.stderr.write(
    `error: The result could not be written to standard output: ${message}.\nhint: the command itself has run; a secret that it made is not shown again, so revoke it: narthex credential list, narthex api-key list\n`
  )
}
