/**
 * The theme that a person chose, in a cookie of its own. The server writes it into the page, so the page never appears
 * in the other theme first. It is not a secret, and it is not part of the session: it outlives sign-out.
 */
import { HttpServerResponse } from "effect/http"

export const themeChoices = ["system", "light", "dark"] as const
export type ThemeChoice = (typeof themeChoices)[number]

const cookie = "narthex-theme"

/** The choice in the request's cookies; `system` without one. */
export const themeIn = (cookies: Readonly<Record<string, string | undefined>>): ThemeChoice =>
  themeChoices.find((choice) => choice === cookies[cookie]) ?? "system"

/** Stores the choice for a year. */
export const withTheme = (response: HttpServerResponse.HttpServerResponse, choice: ThemeChoice, secure: boolean) =>
  HttpServerResponse.setCookieUnsafe(response, cookie, choice, {
    httpOnly: true,
    secure,
    sameSite: "lax",
    path: "/",
    maxAge: choice === "system" ? 0 : "365 days"
  })

const plain = '<html lang="en"><head><meta charset="utf-8"/><meta name="color-scheme" content="light dark"/>'

/** The page in the chosen theme: `data-theme` for the stylesheet, and the colour of the window before it has loaded. */
export const themed = (html: string, choice: ThemeChoice): string =>
  choice === "system"
    ? html
    : html.replace(
        plain,
        `<html lang="en" data-theme="${choice}"><head><meta charset="utf-8"/><meta name="color-scheme" content="${choice}"/>`
      )
