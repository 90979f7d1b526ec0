import { useEffect, useEffectEvent } from 'react';
import { areKeysUsedElsewhere, nameOfKey } from '../use-keys.ts';

/** Actions by the name of the key: `p`, `shift+v`, `alt+d`, or `mod+z` for Ctrl + Z and Command + Z. */
export type DrawingKeys = Readonly<Record<string, () => void>>;

/**
 * Handles the keys of the drawing mode. They take precedence over the viewer's shortcuts for the same keys.
 *
 * @param bindings null when the drawing mode is off
 */
export function useDrawingKeys(bindings: DrawingKeys | null): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (
      bindings === null ||
      event.defaultPrevented ||
      event.isComposing || // an input method (such as for Japanese) is composing a character
      areKeysUsedElsewhere(event.target)
    )
      return;
    // Enter and the space bar press the focused button, link or checkbox. A focused element inside a list item (`li`) counts as a button.
    const isOnButton =
      event.target instanceof Element && event.target.closest('button, a, input, li') !== null;
    if (isOnButton && (event.key === 'Enter' || event.key === ' ')) return;
    const action = bindings[nameOf(event)];
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    // A capturing listener handles a key before `useKeys` of the viewer does.
    document.addEventListener('keydown', listen, { capture: true });
    return () => document.removeEventListener('keydown', listen, { capture: true });
  }, []);
}

function nameOf(event: KeyboardEvent): string {
  const name = nameOfKey(event); // contains `shift+` for a letter with Shift
  if (event.altKey) return `alt+${name}`;
  return event.ctrlKey || event.metaKey ? `mod+${name}` : name;
}
