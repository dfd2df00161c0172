/** The choice of a size; without a catalog there is none. */
import { endpointSizeText, type OfferedSize } from "@narthex/api"
import { Field } from "../components/Field.tsx"

export interface SizeFieldProps {
  readonly sizes: ReadonlyArray<OfferedSize>
  /** The name of a size; `""`: the default. */
  readonly value: string
  readonly error?: string | undefined
  readonly hint?: string
}

export const SizeField = ({ error, hint = "You can change it later.", sizes, value }: SizeFieldProps) =>
  sizes.length === 0 ? null : (
    <Field
      name="size"
      label="Size"
      choices={sizes.map((size) => ({ value: size.name, label: endpointSizeText(size) }))}
      value={value === "" ? (sizes.find((size) => size.default)?.name ?? "") : value}
      hint={hint}
      error={error}
    />
  )
