/** The menu of the person: account, sessions, invitations, theme, sign-out. */
import { Icon } from "../components/Icon.tsx"
import { type ThemeChoice, themeChoices } from "../web/theme.ts"
import type { Frame } from "./Frame.ts"

const themes = {
  system: { icon: "screen", label: "System theme" },
  light: { icon: "sun", label: "Light theme" },
  dark: { icon: "moon", label: "Dark theme" }
} as const

const Theme = ({ choice, frame }: { readonly choice: ThemeChoice; readonly frame: Frame }) => (
  <form method="post" action="/theme">
    <input type="hidden" name="return_to" value={frame.here} />
    <input type="hidden" name="theme" value={choice} />
    <button type="submit" aria-current={choice === frame.theme ? "true" : undefined}>
      <Icon name={themes[choice].icon} />
      {themes[choice].label}
    </button>
  </form>
)

const initials = (label: string) =>
  label
    .split(/[\s.@]+/)
    .slice(0, 2)
    .map((part) => part.slice(0, 1).toUpperCase())
    .join("")

export const UserMenu = ({ frame }: { readonly frame: Frame }) => {
  const { email, name } = frame.user
  const label = name ?? email ?? "Signed in"
  return (
    <>
      <button type="button" class="who" popovertarget="person">
        <span class="avatar" aria-hidden="true">
          {initials(label)}
        </span>
        <span>
          <span class="hidden">Account: </span>
          {label}
        </span>
        <Icon name="chevrons" />
      </button>
      <div class="menu above" popover="auto" id="person">
        <p class="who-menu">
          {name === null ? null : <b>{name}</b>}
          {email}
        </p>
        <ul>
          <li>
            <a href="/account">
              <Icon name="person" />
              Account and sessions
            </a>
          </li>
          <li>
            <a href="/invitations">
              <Icon name="mail" />
              Your invitations
            </a>
          </li>
          <li>
            <a href="/docs">
              <Icon name="book" />
              API documentation
            </a>
          </li>
        </ul>
        <hr />
        <ul>
          {themeChoices.map((choice) => (
            <li key={choice}>
              <Theme choice={choice} frame={frame} />
            </li>
          ))}
        </ul>
        <hr />
        <ul>
          <li>
            <form method="post" action="/sign-out">
              <button type="submit">
                <Icon name="leave" />
                Sign out
              </button>
            </form>
          </li>
        </ul>
      </div>
    </>
  )
}
