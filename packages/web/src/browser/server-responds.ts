/** Returns whether the server responds within a time limit, even with an error response. */
export async function doesServerRespond(timeoutMs: number): Promise<boolean> {
  if (!navigator.onLine) return false;
  try {
    await fetch('/', { method: 'HEAD', cache: 'no-store', signal: AbortSignal.timeout(timeoutMs) });
    return true;
  } catch {
    return false;
  }
}
