/** Stores the theme that a person chose. Signed out too: the theme is not part of a session. */
import { Effect } from "effect"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { pageRefusals } from "../requests/refusals.tsx"
import { seeOther } from "../web/answer.tsx"
import { Form } from "../web/Form.ts"
import { returnPath } from "../web/returnTo.ts"
import { themeChoices, withTheme } from "../web/theme.ts"

const choose = Effect.gen(function* () {
  const { secure } = yield* ConsoleSettings
  const form = yield* Form.read
  const choice = themeChoices.find((it) => it === form.text("theme")) ?? "system"
  return withTheme(seeOther(returnPath(form.text("return_to")) ?? "/projects"), choice, secure)
}).pipe(Effect.catch((failure) => Effect.succeed(pageRefusals.failed(failure))))

export const themeRoutes: ReadonlyArray<ConsoleRoute> = [{ method: "POST", path: "/theme", answer: choose }]
