/** Why a stream of events was lost, as a sentence. The client's words are for logs: causes of sockets and decoders. */

const sentences: Readonly<Record<string, string>> = {
  silence: "The server was silent.",
  "no answer": "The server did not answer.",
  "the stream ended": "The stream ended.",
  "a block was too large": "The server sent an event that is too large.",
  draining: "The server is restarting.",
  rate_limited: "The server asks for a pause.",
  unavailable: "The server is unavailable.",
  token_expired: "The session token expired."
}

export const lostSentence = (why: string): string => {
  if (Object.hasOwn(sentences, why)) return sentences[why] ?? ""
  const [, status] = /^status (\d{3})$/.exec(why) ?? []
  if (status !== undefined) return `The server answered with status ${status}.`
  // A code of a problem, or the reason of a server that closes a stream. Anything else is the text of an error.
  return /^[a-z][a-z_]*$/.test(why) ? `The server closed the stream: ${why}.` : "The connection was cut."
}
