/** The keyboard shortcuts of the viewer. */
import { useEffect, useEffectEvent } from 'react';

/** Actions by `KeyboardEvent.key`, with letters in lower case; `shift+r` for a letter with Shift. */
export type KeyBindings = Readonly<Record<string, () => void>>;

/**
 * Handles keyboard shortcuts on the whole page, except while a modal dialog is open or a text field, a menu or a slider has the focus.
 * Combinations with Ctrl, Alt or Command are left to the browser.
 */
export function useKeys(bindings: KeyBindings): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.isComposing) return; // an input method (such as for Japanese) is composing a character
    if (areKeysUsedElsewhere(event.target)) return;
    if (event.key === 'Enter' && isPressedByEnter(event.target)) return;
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

/** Selector of elements that handle keys themselves. A checkbox handles only the space bar, which is no shortcut of the viewer. */
const keyHandlingElements =
  'input:not([type="checkbox"]), textarea, select, [contenteditable]:not([contenteditable="false"]), [role="menu"], [role="slider"]';

/**
 * Returns whether the viewer must ignore keys, because a modal dialog is open or the target is a text field, a menu or a slider.
 */
export function areKeysUsedElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  return target instanceof Element && target.closest(keyHandlingElements) !== null;
}

/**
 * Returns whether Enter presses the target: a row of the catalogue in the sidebar, or a link, for which there is no other key.
 * For other targets, Enter acts on the chosen tool, even while a button has the focus, because the space bar also presses a button.
 */
function isPressedByEnter(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('aside, a') !== null;
}

/**
 * Returns the name of a key in `KeyBindings`. Shift is part of the name only for letters, because symbols such as `+` and `?`
 * need Shift on some keyboards and not on others.
 */
export function nameOfKey({ key, shiftKey }: KeyboardEvent): string {
  const isLetter = /^\p{L}$/u.test(key);
  // `toLowerCase` does not depend on the page's language; `toLocaleLowerCase` would turn I into ı in Turkish.
  const name = isLetter ? key.toLowerCase() : key;
  return isLetter && shiftKey ? `shift+${name}` : name;
}
