/**
 * Calls the listener when requests that have failed may succeed again: when the network is available again, and when the page becomes
 * visible, for example because the computer has woken up.
 *
 * @returns a function that stops calling it
 */
export function onPossibleReconnect(listener: () => void): () => void {
  const listenWhenVisible = () => {
    if (document.visibilityState === 'visible') listener();
  };
  window.addEventListener('online', listenWhenVisible);
  document.addEventListener('visibilitychange', listenWhenVisible);
  return () => {
    window.removeEventListener('online', listenWhenVisible);
    document.removeEventListener('visibilitychange', listenWhenVisible);
  };
}
