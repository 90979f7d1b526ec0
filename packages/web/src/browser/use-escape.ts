import { type RefObject, useEffect, useEffectEvent } from 'react';

/** Calls `close` when Esc is pressed with the focus inside the element. Handlers of outer elements do not receive the key, so that only the innermost element closes. */
export function useEscape(element: RefObject<HTMLElement | null>, close: () => void): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  useEffect(() => {
    const currentElement = element.current;
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    currentElement?.addEventListener('keydown', listen);
    return () => currentElement?.removeEventListener('keydown', listen);
  }, [element]);
}
