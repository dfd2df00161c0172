/** The mark and the name. */
export const Brand = ({ href }: { readonly href: string }) => (
  <a class="brand" href={href}>
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path d="M4 21V11a8 8 0 0 1 16 0v10h-4V11a4 4 0 0 0-8 0v10z" fill="currentColor" />
    </svg>
    Narthex
  </a>
)
