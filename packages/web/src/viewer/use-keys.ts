import { useEffect, useEffectEvent } from 'react';

/** By `KeyboardEvent.key`; letters in lower case, `shift+r` for a letter with Shift. */
export type KeyBindings = Readonly<Record<string, () => void>>;

/**
 * Keyboard shortcuts of the whole page, without a click before. They do not apply while typing in a field, in a dialog or
 * menu, or to shortcuts of the browser.
 */
export function useKeys(bindings: KeyBindings): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isBusyElsewhere(event.target)) return;
    if (event.key === 'Enter' && isInSidebar(event.target)) return;
    const run = bindings[nameOfKey(event)];
    if (run === undefined) return;
    event.preventDefault();
    run();
  });

  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

const takesKeys =
  'input, textarea, select, [contenteditable]:not([contenteditable="false"]), [role="menu"], [role="slider"]';

/** Whether the focus is where keys have another meaning: in a field, a menu or an open dialog. */
export function isBusyElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  return target instanceof Element && target.closest(takesKeys) !== null;
}

/** Enter opens a row of the catalogue; everywhere else it belongs to the tool that is in use. */
function isInSidebar(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('aside') !== null;
}

/** Returns the name of a key as in `KeyBindings`. Symbols such as `+` and `?` need Shift on some keyboards only, so that Shift counts for letters only. */
export function nameOfKey({ key, shiftKey }: KeyboardEvent): string {
  const isLetter = /^\p{L}$/u.test(key);
  // Independent of the page's language: in Turkish, I would become ı.
  const name = isLetter ? key.toLowerCase() : key;
  return isLetter && shiftKey ? `shift+${name}` : name;
}
