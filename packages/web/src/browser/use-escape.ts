import { type RefObject, useEffect, useEffectEvent } from 'react';

/** Calls `close` when Esc is pressed with the focus inside the element, and keeps the key from whatever is around it. */
export function useEscape(element: RefObject<HTMLElement | null>, close: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  useEffect(() => {
    const inside = element.current;
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    inside?.addEventListener('keydown', listen);
    return () => inside?.removeEventListener('keydown', listen);
  }, [element]);
}
