/** What a form sends without asking. */
export const HiddenFields = ({ fields }: { readonly fields: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
  </>
)
