import { useEffect, useRef } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { loginExternally } from '../../api/auth.ts';
import { Loading } from '../../components/Loading.tsx';
import { announce } from '../../notifications/notify.ts';
import { texts } from './texts.ts';

/** The screen to which the external identity provider (OpenID Connect) sends the browser back. It completes the sign-in. */
export function AuthCallback() {
  const { search } = useLocation();
  const navigate = useNavigate();
  const isFinishing = useRef(false);

  useEffect(() => {
    if (isFinishing.current) return; // React may run the effect twice, but the provider accepts the code in the URL only once
    isFinishing.current = true;
    void loginExternally(search).then(async (result) => {
      announce(result);
      // After a success, the route guard redirects to the dashboard. Both redirects remove the code from the URL and
      // from the history of the browser.
      if (!result.success) await navigate('/auth/login', { replace: true });
    });
  }, [search, navigate]);

  return <Loading label={texts.signingIn} />;
}
