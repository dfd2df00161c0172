/** Addresses of servers as people write them, and which of them may be sent a stored key. */
import { Result } from "effect"
import { UsageMistake } from "../failures/LocalFailure.ts"

/** Without a slash at its end. */
export const readServerUrl = (text: string, from: string): Result.Result<string, UsageMistake> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const fine =
    url !== undefined &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === ""
  return fine
    ? Result.succeed(url.href.replace(/\/+$/, ""))
    : Result.fail(
        new UsageMistake({ message: `${from} is not a valid server URL.`, hint: "for example http://127.0.0.1:4400" })
      )
}

/**
 * May a key that `home` made be sent to `target`? To the same server only; servers on this machine count as one, because
 * a development server comes back on another port.
 */
export const isSameServer = (home: string, target: string): boolean =>
  home === target || (isLoopback(home) && isLoopback(target))

const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname)
