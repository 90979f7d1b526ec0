import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { announce } from '../../announce.ts';
import { loginExternally } from '../../api/auth.ts';
import { Loading } from '../../components/Loading.tsx';
import { texts } from './texts.ts';

/** Where the external sign-in service sends the browser back to: finishes the sign-in and goes on. */
export function AuthCallback() {
  const { search } = useLocation();
  const navigate = useNavigate();
  const isFinishing = useRef(false);

  useEffect(() => {
    if (isFinishing.current) return; // a code is good for one sign-in
    isFinishing.current = true;
    void loginExternally(search).then(async (result) => {
      announce(result);
      // Whoever is signed in is led on from here as from every screen for guests. Either way the code stays neither in
      // the address nor in the browser's history.
      if (!result.success) await navigate('/auth/login', { replace: true });
    });
  }, [search, navigate]);

  return <Loading label={texts.signingIn} />;
}
