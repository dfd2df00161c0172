/** Server URLs from settings and answers, and the rule for which servers may receive a stored key. */
import { Result } from "effect"
import { UsageMistake } from "../failures/LocalFailure.ts"

/** Returns the URL without a trailing slash. `from` names its source in the error. */
export const readServerUrl = (text: string, from: string): Result.Result<string, UsageMistake> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const fine =
    url !== undefined &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === ""
  if (fine && /\/v1\/*$/.test(url.pathname))
    return Result.fail(
      new UsageMistake({ message: `${from} ends with /v1, which the calls add.`, hint: "leave out /v1" })
    )
  return fine
    ? Result.succeed(url.href.replace(/\/+$/, ""))
    : Result.fail(
        new UsageMistake({ message: `${from} is not a valid server URL.`, hint: "for example http://127.0.0.1:4400" })
      )
}

/**
 * Whether a key that `home` issued may be sent to `target`: only to the same server. All servers on loopback count as
 * the same, because a development server may restart on another port.
 */
export const isSameServer = (home: string, target: string): boolean =>
  home === target || (isLoopback(home) && isLoopback(target))

const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(url).hostname)
