import { useEffect, useEffectEvent } from 'react';

/** Actions by `KeyboardEvent.key`, with letters in lower case; `shift+r` for a letter with Shift. */
export type KeyBindings = Readonly<Record<string, () => void>>;

/**
 * Handles keyboard shortcuts on the whole page, wherever the focus is, except in a text field, a menu, a slider or a dialog.
 * Combinations with Ctrl, Alt or Command stay with the browser.
 */
export function useKeys(bindings: KeyBindings): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing) return; // an input method is composing a character
    if (areKeysUsedElsewhere(event.target)) return;
    if (event.key === 'Enter' && isInSidebar(event.target)) return;
    const action = bindings[nameOfKey(event)];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });

  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
}

/** Selector of elements that handle keys themselves. */
const keyHandlingElements =
  'input, textarea, select, [contenteditable]:not([contenteditable="false"]), [role="menu"], [role="slider"]';

/** Whether a key does not belong to the viewer: a dialog is open, or the target is a field, a menu or a slider. */
export function areKeysUsedElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  return target instanceof Element && target.closest(keyHandlingElements) !== null;
}

/** Whether the target is in the sidebar, where Enter opens a row of the catalogue; elsewhere it belongs to the chosen tool. */
function isInSidebar(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('aside') !== null;
}

/**
 * Returns the name of a key in `KeyBindings`. Shift counts only for letters, because symbols such as `+` and `?` need Shift on some
 * keyboards and not on others.
 */
export function nameOfKey({ key, shiftKey }: KeyboardEvent): string {
  const isLetter = /^\p{L}$/u.test(key);
  // Independent of the page's language: in Turkish, I would become ı.
  const name = isLetter ? key.toLowerCase() : key;
  return isLetter && shiftKey ? `shift+${name}` : name;
}
