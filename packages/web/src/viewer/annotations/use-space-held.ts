import { useEffect, useRef, useState } from 'react';

/** Returns a function that returns whether the space bar is held. The function is the same object in each rendering. */
export function useSpaceHeld(): () => boolean {
  const isHeld = useRef(false);
  useEffect(() => {
    const updateHeld = (event: KeyboardEvent) => {
      if (event.key === ' ') isHeld.current = event.type === 'keydown';
    };
    // The page receives no `keyup` event when the key is released in another window.
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
