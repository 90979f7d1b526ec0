import { type RefObject, useEffect, useEffectEvent } from 'react';

/**
 * Calls `close` when a user presses Esc with the focus inside the element. Outer elements do not receive the key, so they stay open.
 *
 * @param isShown whether the element is in the page now. Needed only if the component sometimes renders without the element
 */
export function useEscape(element: RefObject<HTMLElement | null>, close: () => void, isShown = true): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  useEffect(() => {
    const currentElement = isShown ? element.current : null;
    const listen = (event: KeyboardEvent) => onKeyDown(event);
    currentElement?.addEventListener('keydown', listen);
    return () => currentElement?.removeEventListener('keydown', listen);
  }, [element, isShown]);
}
