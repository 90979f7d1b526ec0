import { useEffect, useEffectEvent } from 'react';

/** By `KeyboardEvent.key`; letters in lower case, `shift+r` for a letter with Shift. */
export type KeyBindings = Readonly<Record<string, () => void>>;

/**
 * Keys of the whole page: nothing has to be clicked first. They leave alone what is typed into a field, what
 * is done in a dialog or a menu, and the shortcuts of the browser.
 */
export function useKeys(bindings: KeyBindings): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isBusyElsewhere(event.target)) return;
    const run = bindings[nameOf(event)];
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

function isBusyElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  return target instanceof Element && target.closest(takesKeys) !== null;
}

/** Signs such as `+` and `?` need Shift on some keyboards and not on others; only letters tell it. */
function nameOf({ key, shiftKey }: KeyboardEvent): string {
  const isLetter = /^\p{L}$/u.test(key);
  // Not by the language of the page: a Turkish I is no key of ours, and an R is an r everywhere.
  const name = isLetter ? key.toLowerCase() : key;
  return isLetter && shiftKey ? `shift+${name}` : name;
}
