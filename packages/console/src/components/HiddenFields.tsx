/** Fields that a form sends without showing them. */
export const HiddenFields = ({ fields }: { readonly fields: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input key={name} type="hidden" name={name} value={value} />
    ))}
  </>
)
