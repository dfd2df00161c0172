/** The shell of the console: policy, theme, components. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const shell = ["packages/console/test/shell.test.ts"]
const components = ["packages/console/test/components.test.tsx"]
const views = ["packages/console/test/views.test.tsx"]

export const consoleShell: ReadonlyArray<FaultsOfFile> = [
  {
    area: "console",
    file: "packages/console/src/components/Notice.tsx",
    tests: components,
    faults: [
      {
        id: "console-keyboard-notice-unfocused",
        find: "{...(focused ?",
        put: "{...(focused && passing ?",
        why: "After an action the focus is on the notice that answers it (docs/design/console.md W48)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/components/Dialog.tsx",
    tests: components,
    faults: [
      {
        id: "console-keyboard-dialog-begins-at-danger",
        find: 'autofocus={typed === undefined && tone === "danger"}',
        put: "autofocus={typed !== undefined}",
        why: "A question that nothing has to be typed for begins at Cancel (docs/design/console.md W48)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/views/records.ts",
    tests: views,
    faults: [
      {
        id: "console-new-endpoint-suspending",
        find: 'if (endpoint.current_state === "init") return',
        put: 'if (endpoint.current_state === "init" && endpoint.disabled) return',
        why: "An endpoint that is being made is not being suspended."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/requests/readOverview.ts",
    tests: ["packages/console/test/calls.test.ts"],
    faults: [
      {
        id: "console-part-left-out",
        find: "return missing.length === 0",
        put: "return missing.length >= 0",
        why: "A part that the API leaves out is no empty list (docs/design/console.md W49)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/sessions/OpenedCookies.ts",
    tests: ["packages/console/test/sealedCookies.test.ts"],
    faults: [
      {
        id: "console-cookie-kept-beyond-its-end",
        find: "found.exp <= Math.floor(now / 1000)",
        put: "found.exp <= 0",
        why: "A cookie expires also where its content is remembered."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/web/securityHeaders.ts",
    tests: shell,
    faults: [
      {
        id: "console-shell-trusted-types",
        find: "\"trusted-types 'none'\"",
        put: '"trusted-types narthex"',
        why: "No script of a page makes markup from text (docs/design/console.md W20)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/web/theme.ts",
    tests: shell,
    faults: [
      {
        id: "console-shell-theme-unchecked",
        find: 'themeChoices.find((choice) => choice === cookies[cookie]) ?? "system"',
        put: '(cookies[cookie] as ThemeChoice | undefined) ?? "system"',
        why: "The theme of a cookie is one of the choices; nothing else gets into the page."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/routes/themeRoutes.ts",
    tests: shell,
    faults: [
      {
        id: "console-shell-theme-returns-anywhere",
        find: 'returnPath(form.text("return_to")) ?? "/projects"',
        put: 'form.text("return_to")',
        why: "`return_to` is a path on this origin (docs/design/console.md W9)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/routes/componentRoutes.tsx",
    tests: shell,
    faults: [
      {
        id: "console-shell-components-in-production",
        find: "    development ? page(",
        put: "    development || true ? page(",
        why: "The page of components is served in development only (docs/design/console.md W45)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/sessions/signedIn.ts",
    tests: shell,
    faults: [
      {
        id: "console-shell-form-opened-again",
        find: 'request.method === "GET" ? returnPath(request.url) : undefined',
        put: "returnPath(request.url)",
        why: "After a form that the API did not answer, the page opens the projects (docs/design/console.md W46)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/components/Dialog.tsx",
    tests: components,
    faults: [
      {
        id: "console-shell-typed-is-a-pattern",
        find: 'text.replaceAll(/[\\\\^$.*+?()[\\]{}|/]/g, "\\\\$&")',
        put: "text",
        why: "The name that has to be typed before a deletion is compared as text."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/components/Menu.tsx",
    tests: components,
    faults: [
      {
        id: "console-shell-menus-collide",
        find: "{ id, items, label }: MenuProps",
        put: "{ items, label, label: id }: MenuProps",
        why: "Each menu of a page has an id of its own, also where two have one label (docs/design/console.md W21)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/relay/relayEvents.ts",
    tests: ["packages/console/test/relay.test.ts"],
    faults: [
      {
        id: "relay-position",
        find: 'position === undefined ? {} : { "last-event-id": position }',
        put: 'position === undefined ? {} : { "last-event-id": "" }',
        why: "A relay passes the browser's position on."
      },
      {
        id: "relay-token",
        find: "Math.max(0, left)",
        put: "Math.max(3_600_000, left)",
        why: "A relay does not outlive its token."
      }
    ]
  }
]
