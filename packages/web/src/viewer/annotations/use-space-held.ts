import { useEffect, useRef, useState } from 'react';

/** Returns a function that tells whether the space bar is held; it stays the same object. */
export function useSpaceHeld(): () => boolean {
  const isHeld = useRef(false);
  useEffect(() => {
    const updateHeld = (event: KeyboardEvent) => {
      if (event.key === ' ') isHeld.current = event.type === 'keydown';
    };
    // The page gets no event when the key is released in another window.
    const release = () => {
      isHeld.current = false;
    };
    document.addEventListener('keydown', updateHeld);
    document.addEventListener('keyup', updateHeld);
    window.addEventListener('blur', release);
    return () => {
      document.removeEventListener('keydown', updateHeld);
      document.removeEventListener('keyup', updateHeld);
      window.removeEventListener('blur', release);
    };
  }, []);
  const [isSpaceHeld] = useState(() => () => isHeld.current); // `useState` keeps the function of the first render
  return isSpaceHeld;
}
