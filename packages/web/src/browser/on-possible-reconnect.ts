/**
 * Calls the listener when requests that have failed may succeed again: when the network is available again, and when the page becomes
 * visible, for example because the computer has woken up.
 *
 * @returns a function that removes the listener
 */
export function onPossibleReconnect(listener: () => void): () => void {
  const callIfVisible = () => {
    if (document.visibilityState === 'visible') listener();
  };
  window.addEventListener('online', callIfVisible);
  document.addEventListener('visibilitychange', callIfVisible);
  return () => {
    window.removeEventListener('online', callIfVisible);
    document.removeEventListener('visibilitychange', callIfVisible);
  };
}
