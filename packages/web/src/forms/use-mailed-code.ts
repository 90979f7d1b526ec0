import { useEffect } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useStateAcrossLanguages } from '../language/use-state-across-languages.ts';

/**
 * Returns the single-use code of an e-mailed link, and removes it from the URL and the history. The code is in the fragment
 * (`#code=…`), which browsers do not send to the server.
 *
 * @returns the code (null if there is none), and a function that discards it
 */
export function useMailedCode(): readonly [code: string | null, discard: () => void] {
  const { hash, pathname } = useLocation();
  const navigate = useNavigate();
  const linkedCode = codeIn(hash);
  // The URL no longer contains the code, so the state must survive the remounting of the screen in another language.
  const [code, setCode] = useStateAcrossLanguages(`mailed code ${pathname}`, linkedCode);
  if (linkedCode !== null && linkedCode !== code) setCode(linkedCode); // another link was opened in this tab

  useEffect(() => {
    if (linkedCode !== null) void navigate(pathname, { replace: true });
  }, [linkedCode, pathname, navigate]);

  return [code, () => setCode(null)];
}

function codeIn(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, '')).get('code') || null;
}
