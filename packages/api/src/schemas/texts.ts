/** Texts of the OpenAPI document that several calls share. */
export const createdKeyText = "The API key and its secret, which is shown this once."
export const streamAnswer = "The stream: blocks of `id`, `event` and `data`, and comments as heartbeats."
export const deletionStarted = "The work that was started. The resource answers 404 from now on."

export const nameText = (of: string) =>
  `The name of ${of}: 1 to 128 characters without control characters, counted after trimming. It need not be unique.`
export const branchNameText =
  "The name of the branch: 1 to 63 characters, a letter and then letters, digits, `_`, `.`, `/` and `-`; unique in the project."
