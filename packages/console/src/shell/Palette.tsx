/** The palette: go to any place by its name. The script loads the places when it opens. */
export const Palette = () => (
  <dialog id="palette" class="palette" aria-label="Go to">
    <go-to src="/api/places">
      <label class="hidden" htmlFor="place">
        Place
      </label>
      <input
        type="text"
        id="place"
        role="combobox"
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls="palette-places"
        placeholder="Go to a project, a branch or a page"
        autocomplete="off"
        spellcheck={false}
      />
      <div role="listbox" id="palette-places" aria-label="Places" />
      <p role="status" />
    </go-to>
  </dialog>
)
