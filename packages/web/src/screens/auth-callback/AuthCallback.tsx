import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { loginExternally } from '../../api/auth.ts';
import { Loading } from '../../components/Loading.tsx';
import { announce } from '../../notifications/notify.ts';
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
      // A signed-in person is redirected from here as from every guest screen. Either way the code stays neither in
      // the address nor in the browser's history.
      if (!result.success) await navigate('/auth/login', { replace: true });
    });
  }, [search, navigate]);

  return <Loading label={texts.signingIn} />;
}
