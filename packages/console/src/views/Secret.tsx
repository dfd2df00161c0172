/**
 * The page that shows a new secret once (docs/design/console.md W15). It is the direct answer to the form, because a
 * redirect would have to store the secret. It is not cached, and a reload shows the page without the secret.
 */
import type { ComponentChildren } from "preact"
import { Notice } from "../components/Notice.tsx"
import type { Frame, Section } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"

export interface SecretPageProps {
  readonly frame: Frame
  readonly section: Section
  readonly title: string
  /** The label of the secret. */
  readonly name: string
  /** `null` when the form was already sent: the API returns the secret only once. */
  readonly secret: string | null
  readonly explanation: string
  /** How the secret is used, below it. */
  readonly more?: ComponentChildren
  readonly back: { readonly href: string; readonly label: string }
}

export const SecretPage = ({ back, explanation, frame, more, name, secret, section, title }: SecretPageProps) => (
  <Page title={title} frame={frame} section={section} narrow>
    {secret === null ? (
      <Notice tone="busy" focused>
        This form was already sent. The secret was shown then and cannot be shown again.
      </Notice>
    ) : (
      <>
        <Notice tone="busy" focused>
          {explanation} It is shown only once and cannot be recovered.
        </Notice>
        <div>
          <p class="label" id="secret-label">
            {name}
          </p>
          <p class="copy field-like">
            <output id="secret" aria-labelledby="secret-label">
              {secret}
            </output>
            <copy-button for="secret" label={`Copy the ${name.toLowerCase()}`} />
          </p>
        </div>
        {more}
      </>
    )}
    <p class="actions">
      <a class="button primary" href={back.href}>
        {secret === null ? back.label : "I have stored it"}
      </a>
    </p>
  </Page>
)
