/** Texts of answers that several calls share. */
export const createdKeyText = "The API key and its secret, which is shown this once."
export const streamAnswer = "The stream: blocks of `id`, `event` and `data`, and comments as heartbeats."
export const deletionStarted = "The work that was started. The resource answers 404 from now on."
